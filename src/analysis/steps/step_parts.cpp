#include "analysis/steps/step_parts.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/arithmetic/share_out.h"
#include "analysis/arithmetic/union_of_runs.h"
#include "analysis/host/host_time.h"
#include "analysis/name_sign.h"

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
      if (id > 0 && communicates.of(row)) ids_.insert(id);
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
std::vector<StepTime> steps_of(const WindowView& window, Definition definition) {
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

}  // namespace

WindowParts step_parts(const WindowView& window, Definition definition) {
  DeviceTime device = device_time(window, definition);
  HostTime host = host_time(
      window, definition == Definition::kOurs ? HostRules::kOurs : HostRules::kTensorboard);
  std::vector<Intervals> roles;
  roles.push_back(std::move(device.kernel));
  roles.push_back(std::move(device.copy));
  roles.push_back(std::move(device.set));
  roles.push_back(unite(device.communication, host.communication));
  roles.push_back(std::move(host.runtime));
  roles.push_back(std::move(host.loading));
  roles.push_back(std::move(host.operators));
  const Sharer sharer(std::move(roles));

  const std::vector<StepTime> steps = steps_of(window, definition);
  WindowParts out{.steps = {}, .stretch = total(stretches(steps))};
  for (const StepTime& step : steps) {
    if (!step.selected) continue;
    StepParts one{.step = step};
    std::ranges::copy(sharer.parts(step.span), one.parts.begin());
    out.steps.push_back(one);
  }
  return out;
}

}  // namespace stepscope::analysis
