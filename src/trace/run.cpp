// Questions about a whole run that need no analysis.
#include "trace/run.h"

#include <algorithm>

namespace stepscope::trace {

bool has_trace(const Run& run) {
  return std::ranges::any_of(run.ranks, [](const RankTraces& rank) {
    return std::ranges::any_of(rank.windows,
                               [](const Window& window) { return !window.trace.is_recording(); });
  });
}

}  // namespace stepscope::trace
