#include "analysis/steps/step_parts.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "analysis/arithmetic/share_out.h"
#include "analysis/arithmetic/union_of_runs.h"
#include "analysis/host/host_time.h"
#include "analysis/name_sign.h"
#include "analysis/prepared.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

// TensorBoard's plugin knows a communication kernel by the External id of the range around its
// call, never by name or arguments.
class TensorboardKernels {
 public:
  // Empty where nobody asks: the ids are those of all operators of the trace.
  TensorboardKernels(const trace::Trace& trace, bool asked) : trace_(trace) {
    if (!asked) return;
    NameSign communicates(trace, is_tensorboard_communication);
    trace.ops().rows.for_each([&](Row row, std::uint32_t entry) {
      const std::int64_t id = trace.ops().external_id[entry];
      if (trace::says_anything(id) && communicates.of(row)) ids_.insert(id);
    });
  }
  bool communicates(Row kernel) const {
    return ids_.contains(trace_.device().external_id[trace_.device().rows.rank(kernel)]);
  }

 private:
  const trace::Trace& trace_;
  std::unordered_set<std::int64_t> ids_;
};

struct DeviceTime {
  Intervals kernel, copy, set, communication;
};

DeviceTime device_time(const WindowView& window, Definition definition) {
  const bool tensorboard = definition == Definition::kTensorboard;
  const TensorboardKernels linked(*window.trace, tensorboard);
  std::array<UnionOfRuns, 4> sets;
  for (const DeviceView& device : window.devices) {
    for (UnionOfRuns& set : sets) set.begin_run();
    for (const Work& piece : window.work_of(device)) {
      WorkClass sort = piece.work_class;
      if (tensorboard && window.trace->kind()[piece.row] == Kind::kKernel) {
        sort = linked.communicates(piece.row) ? WorkClass::kCommunication : WorkClass::kCompute;
      }
      sets[static_cast<std::size_t>(sort)].add(piece.start, piece.end);
    }
  }
  const auto of = [&](WorkClass sort) { return sets[static_cast<std::size_t>(sort)].take(); };
  return {.kernel = of(WorkClass::kCompute),
          .copy = of(WorkClass::kCopy),
          .set = of(WorkClass::kSet),
          .communication = of(WorkClass::kCommunication)};
}

// The same steps, prolonged only by what the runtime launched.
std::vector<StepTime> step_parts_steps_of(const WindowView& window, Definition definition) {
  if (!window.has_steps) {
    std::vector<StepTime> whole = window.steps;
    for (StepTime& step : whole) step.host = step.span;
    return whole;
  }
  if (definition == Definition::kOurs) return window.steps;
  std::vector<StepTime> steps = step_times(*window.trace, Calls::kRuntimeOnly);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].selected = window.steps[i].selected;
  return steps;
}

WindowParts step_parts_of(const WindowView& window, Definition definition, const HostTime& host) {
  const DeviceTime device = device_time(window, definition);
  const Intervals communication = unite(device.communication, host.communication);
  const std::array<std::span<const Interval>, kPartCount - 1> roles = {
      device.kernel, device.copy,  device.set,    communication,
      host.runtime,  host.loading, host.operators};
  std::vector<StepTime> steps = step_parts_steps_of(window, definition);
  WindowParts out{.steps = {}, .stretch = total(stretches(steps))};
  std::erase_if(steps, [](const StepTime& step) { return !step.selected; });
  std::vector<Interval> spans;
  spans.reserve(steps.size());
  for (const StepTime& step : steps) spans.push_back(step.span);
  const std::vector<std::vector<base::Nanos>> parts = share_out(roles, spans);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StepParts one{.step = steps[i]};
    std::ranges::copy(parts[i], one.parts.begin());
    out.steps.push_back(one);
  }
  return out;
}

}  // namespace

const WindowParts& step_parts(const WindowView& window) {
  return window.prepared->step_parts.get(
      [&] { return step_parts_of(window, Definition::kOurs, host_time(window)); });
}

WindowParts tensorboard_step_parts(const WindowView& window) {
  return step_parts_of(window, Definition::kTensorboard, tensorboard_host_time(window));
}

}  // namespace stepscope::analysis
