// When each step really ran. The host is ahead of the device: a step's work may still run when its
// host range has long ended, so a step lasts until the last device event its calls started has
// ended, and the next one begins no earlier. Definition: docs/metrics/measured-time.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "trace/trace.h"

namespace stepscope::analysis {

struct StepTime {
  std::int64_t number = 0;
  Interval host;           // as annotated
  Interval span;           // corrected for device work; steps do not overlap
  std::uint64_t work = 0;  // device events its calls started
  bool selected = true;    // the user asked for it, or for all
};

enum class Calls : std::uint8_t { kAll, kRuntimeOnly };  // whose device work prolongs a step

std::vector<StepTime> step_times(const trace::Trace& trace, Calls calls = Calls::kAll);

// From the first to the last of selected steps that follow each other, the time between them
// included: what rates (steps per second, utilisation) are measured over.
Intervals stretches(std::span<const StepTime> steps);

// Index of the step whose host range holds this time, by start; -1 for none.
std::int32_t step_at(std::span<const StepTime> steps, base::Nanos time);

}  // namespace stepscope::analysis
