#include "analysis/loading/loader_steps.h"

#include <algorithm>

namespace stepscope::analysis {

std::vector<LoaderStep> loader_steps(const RankLoading& rank,
                                     const std::vector<RecordedStep>& steps) {
  // Loaders on several threads may be asked at once: by end, not by start.
  std::vector<const BatchWait*> by_end;
  by_end.reserve(rank.waits.size());
  for (const BatchWait& wait : rank.waits) {
    if (!wait.beside) by_end.push_back(&wait);
  }
  const bool known = !by_end.empty() || rank.waits.empty();
  std::ranges::stable_sort(by_end, {}, &BatchWait::end);
  std::vector<LoaderStep> out;
  for (const RecordedStep& step : steps) {
    LoaderStep& one = out.emplace_back(LoaderStep{.step = step, .known = known});
    // A wait belongs to the step in which it ended.
    auto wait = std::ranges::upper_bound(by_end, step.start, {}, &BatchWait::end);
    for (; wait != by_end.end() && (*wait)->end <= step.end(); ++wait) {
      if (step.is_aside((*wait)->end)) continue;
      one.wait_ns += (*wait)->length();
      if (!(*wait)->gave()) continue;
      ++one.batches;
      if (one.longest != nullptr && (*wait)->length() <= one.longest->length()) continue;
      one.longest = *wait;
      one.made = rank.made_for(**wait);
    }
  }
  return out;
}

}  // namespace stepscope::analysis
