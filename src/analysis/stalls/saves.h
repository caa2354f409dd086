// Runs of copies from the device to the host with nothing else between them: what writing a
// checkpoint looks like.
#pragma once

#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

// By work of the window: whether the piece belongs to a run of 8 or more copies that move 64 MiB or
// more together.
std::vector<bool> saved_pieces(const WindowView& window);

}  // namespace stepscope::analysis
