// Runs of copies from the device to the host with nothing else between them: what writing a
// checkpoint looks like.
#pragma once

#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

// By work of the window: whether the piece belongs to a run of copies that is large enough to be a
// checkpoint, has as many different sizes as a model's weights, or is made by code that saves.
std::vector<bool> saved_pieces(const WindowView& window);

}  // namespace stepscope::analysis
