// Measures what the loop does with a batch until it asks for the next one.
#include "analysis/loading/loop_work.h"

#include <algorithm>

#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {

using base::Nanos;

LoopWork loop_work(const std::vector<RecordedStep>& steps, const BatchWait& wait) {
  LoopWork work;
  auto step = std::ranges::upper_bound(steps, wait.end, {}, &RecordedStep::start);
  if (step != steps.begin()) --step;
  if (wait.phase != kTraining) step = steps.end();
  bool is_known = false;
  for (; step != steps.end() && step->start < wait.until; ++step) {
    const Interval shared{std::max(wait.end, step->start), std::min(wait.until, step->end())};
    if (shared.length() <= 0) continue;
    const Nanos within = shared.length() - covered(step->aside, shared);
    is_known = true;
    work.traced |= step->traced;
    work.all_ns += within;
    if (!step->traced) work.ns += within;
  }
  if (!is_known) {
    work.ns = work.all_ns = std::max<Nanos>(0, wait.until - wait.end - total(wait.aside));
  }
  return work;
}

}  // namespace stepscope::analysis
