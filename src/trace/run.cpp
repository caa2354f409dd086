#include "trace/run.h"

namespace stepscope::trace {

bool lost_data(const Run& run) {
  if (!run.failures.empty() || run.log.lost_data()) return true;
  for (const RankTraces& rank : run.ranks) {
    for (const Window& window : rank.windows) {
      if (window.trace.log().lost_data()) return true;
    }
  }
  return false;
}

}  // namespace stepscope::trace
