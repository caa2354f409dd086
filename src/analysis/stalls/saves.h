// Runs of copies from the device to the host with nothing else between them: what writing a
// checkpoint looks like.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

struct SaveRules {
  std::size_t copies = 8;                      // a run has at least so many
  base::Bytes bytes = std::int64_t{64} << 20;  // and moves at least so much
};

// By work of the window: whether the piece belongs to such a run.
std::vector<bool> saved_pieces(const WindowView& window, const SaveRules& rules = {});

}  // namespace stepscope::analysis
