#include "analysis/loading/loop_work.h"

#include <algorithm>

namespace stepscope::analysis {

using base::Nanos;

LoopWork loop_work(const std::vector<RecordedStep>& steps, const BatchWait& wait) {
  auto step = std::ranges::upper_bound(steps, wait.end, {}, &RecordedStep::start);
  if (step != steps.begin()) --step;
  LoopWork work;
  bool is_known = false;
  for (; step != steps.end() && step->start < wait.until; ++step) {
    const Interval shared{std::max(wait.end, step->start), std::min(wait.until, step->end())};
    if (shared.length() <= 0) continue;
    const Nanos within = shared.length() - covered(step->aside, shared);
    is_known = true;
    work.traced |= step->traced;
    if (!step->traced) work.ns += within;
  }
  if (!is_known) work.ns = std::max<Nanos>(0, wait.until - wait.end);
  return work;
}

}  // namespace stepscope::analysis
