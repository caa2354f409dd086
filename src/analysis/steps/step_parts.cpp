#include "analysis/steps/step_parts.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/arithmetic/share_out.h"
#include "analysis/host/host_time.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

// TensorBoard's plugin knows a communication kernel by the External id of the range around its
// call, never by name or arguments.
class TensorboardKernels {
 public:
  explicit TensorboardKernels(const trace::Trace& trace) : trace_(trace) {
    trace.ops().rows.for_each([&](Row row, std::uint32_t entry) {
      const std::int64_t id = trace.ops().external_id[entry];
      if (id > 0 && is_tensorboard_communication(trace.name_text(row))) ids_.insert(id);
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
  const TensorboardKernels linked(*window.trace);
  // Devices one after another, each by start: sorted runs, merged as they come.
  std::array<Intervals, 4> pieces;
  std::array<Union, 4> runs;
  for (const DeviceView& device : window.devices) {
    for (const Work& piece : window.work_of(device)) {
      WorkClass sort = piece.work_class;
      if (tensorboard && window.trace->kind()[piece.row] == Kind::kKernel) {
        sort = linked.communicates(piece.row) ? WorkClass::kCommunication : WorkClass::kCompute;
      }
      runs[static_cast<std::size_t>(sort)].add(piece.start, piece.end);
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Intervals run = std::exchange(runs[i], Union{}).take();
      pieces[i].insert(pieces[i].end(), run.begin(), run.end());
    }
  }
  const auto of = [&](WorkClass sort) {
    return sorted_union(std::move(pieces[static_cast<std::size_t>(sort)]));
  };
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
