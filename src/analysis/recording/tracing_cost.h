// What a profiler's window cost the steps it ran in, by the steps it did not run in. Definition:
// docs/metrics/time.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {

struct TracingCost {
  double ns = 0;                   // per step
  double low_ns = 0, high_ns = 0;  // 95 % interval

  // Steps that differ among themselves by more than tracing costs do not tell.
  bool is_measurable() const { return low_ns > 0; }
};

// Nothing with fewer than two traced or two other steps.
std::optional<TracingCost> tracing_cost(const std::vector<RecordedStep>& steps);

// In words.
std::string tracing_cost_text(const TracingCost& cost);

}  // namespace stepscope::analysis
