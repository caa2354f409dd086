// Finds when each step really ran, to the end of the device work it started.
#include "analysis/steps/step_times.h"

#include <algorithm>
#include <limits>

namespace stepscope::analysis {
namespace {

constexpr base::Nanos kStepTimesNever = std::numeric_limits<base::Nanos>::min();

struct DeviceReach {
  base::Nanos first = std::numeric_limits<base::Nanos>::max();
  base::Nanos last = kStepTimesNever;
  std::uint64_t work = 0;
};

// Work whose call is not in the trace was started before the recording, as far as anyone can tell.
std::int32_t step_of_call(const trace::Trace& trace, std::span<const StepTime> steps,
                          trace::Row call, Calls calls) {
  if (call == trace::kNoRow) return -1;
  if (calls == Calls::kRuntimeOnly && trace.kind()[call] != trace::Kind::kRuntime) return -1;
  return step_at(steps, trace.start()[call]);
}

}  // namespace

std::int32_t step_at(std::span<const StepTime> steps, base::Nanos time) {
  const auto after = std::ranges::upper_bound(steps, time, {},
                                              [](const StepTime& step) { return step.host.start; });
  if (after == steps.begin()) return -1;
  const auto step = after - 1;
  return time < step->host.end ? static_cast<std::int32_t>(step - steps.begin()) : -1;
}

Intervals stretches(std::span<const StepTime> steps) {
  Intervals out;
  bool follows = false;
  for (const StepTime& step : steps) {
    if (step.selected && follows) out.back().end = step.span.end;
    if (step.selected && !follows) out.push_back(step.span);
    follows = step.selected;
  }
  return out;
}

std::vector<StepTime> step_times(const trace::Trace& trace, Calls calls) {
  std::vector<StepTime> steps;
  for (const trace::Step& step : trace.steps().list) {
    const Interval host{step.start, step.end};
    steps.push_back({.number = step.number, .host = host, .span = host});
  }
  if (steps.empty()) return steps;

  std::vector<DeviceReach> reach(steps.size());
  std::vector<base::Nanos> outside_ends;  // of device work that no call inside a step started
  const trace::DeviceTable& device = trace.device();
  device.rows.for_each([&](trace::Row row, std::uint32_t entry) {
    if (!is_device_work(trace.kind()[row])) return;
    if ((trace.flags()[row] & trace::kFarTime) != 0) return;
    const std::int32_t step = step_of_call(trace, steps, device.launch[entry], calls);
    if (step < 0) {
      outside_ends.push_back(trace.end(row));
      return;
    }
    DeviceReach& r = reach[static_cast<std::size_t>(step)];
    r.first = std::min(r.first, trace.start()[row]);
    r.last = std::max(r.last, trace.end(row));
    ++r.work;
  });

  // Work from before the first step may still run when it begins; it does not belong to it.
  base::Nanos previous_end = steps.front().host.start;
  for (const base::Nanos end : outside_ends) {
    if (end < reach.front().first && reach.front().work > 0) {
      previous_end = std::max(previous_end, end);
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StepTime& step = steps[i];
    step.work = reach[i].work;
    step.span.start = std::max(previous_end, step.host.start);
    step.span.end = std::max({step.host.end, reach[i].last, step.span.start});
    previous_end = step.span.end;
  }
  return steps;
}

}  // namespace stepscope::analysis
