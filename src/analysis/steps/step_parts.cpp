// Shares out the time of each step among device and host roles.
#include "analysis/steps/step_parts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>
#include <utility>

#include "analysis/arithmetic/intervals.h"
#include "analysis/arithmetic/share_out.h"
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
  // Empty where they are not asked for: the ids are those of all operators of the trace.
  TensorboardKernels(const trace::Trace& trace, bool asked) : trace_(trace) {
    if (!asked) return;
    NameSign communicates(trace, is_tensorboard_communication);
    trace.ops().rows.for_each([&](Row row, std::uint32_t entry) {
      const std::int64_t id = trace.ops().external_id[entry];
      if (trace::says_anything(id) && communicates.matches_row(row)) ids_.insert(id);
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
  const auto take = [&](WorkClass sort) { return sets[static_cast<std::size_t>(sort)].take(); };
  return {.kernel = take(WorkClass::kCompute),
          .copy = take(WorkClass::kCopy),
          .set = take(WorkClass::kSet),
          .communication = take(WorkClass::kCommunication)};
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

namespace {

using base::Nanos;

// Fewer do not show what is usual; as many as the rule about them wants
// (outlier-steps.steps).
constexpr std::size_t kFewestForOutliers = 6;

Nanos length(const RankSteps::One& one) { return one.step.step.span.length(); }

}  // namespace

Durations RankSteps::durations() const {
  Durations out;
  for (const One& one : steps) out.add(length(one));
  return out;
}

Parts RankSteps::sum() const {
  Parts sum{};
  for (const One& one : steps) {
    for (std::size_t i = 0; i < kPartCount; ++i) sum[i] += one.step.parts[i];
  }
  return sum;
}

std::optional<double> RankSteps::per_second() const {
  if (stretch <= 0) return std::nullopt;
  return static_cast<double>(steps.size()) * 1e9 / static_cast<double>(stretch);
}

std::vector<RankSteps> steps_by_rank(const RunView& view, Definition definition) {
  const auto partials = per_window<WindowParts>(view, [&](const WindowView& window) {
    return definition == Definition::kOurs ? step_parts(window) : tensorboard_step_parts(window);
  });
  std::vector<RankSteps> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    if (ranks.empty() || ranks.back().rank != window.rank) {
      ranks.emplace_back().rank = window.rank;
    }
    RankSteps& rank = ranks.back();
    for (const StepParts& step : partials[w].steps) rank.steps.push_back({window.window, step});
    rank.stretch += partials[w].stretch;
  }
  return ranks;
}

std::vector<Outlier> outliers(const RankSteps& rank, const OutlierRule& rule) {
  std::vector<Outlier> out;
  if (rank.steps.size() < kFewestForOutliers) return out;
  Durations lengths = rank.durations();
  const Nanos median = lengths.median();
  Durations distances;
  for (const RankSteps::One& one : rank.steps) distances.add(std::abs(length(one) - median));
  const Nanos enough =
      std::max(rule.deviations * distances.median(),
               static_cast<Nanos>(std::ceil(rule.share * static_cast<double>(median))));

  Parts usual{};
  for (std::size_t part = 0; part < kPartCount; ++part) {
    Durations values;
    for (const RankSteps::One& one : rank.steps) values.add(one.step.parts[part]);
    usual[part] = values.median();
  }
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    if (length(rank.steps[i]) - median <= enough) continue;
    Outlier outlier{.index = i, .median = median};
    for (std::size_t part = 0; part < kPartCount; ++part) {
      const Nanos grown_by = rank.steps[i].step.parts[part] - usual[part];
      if (grown_by <= outlier.grown_by) continue;
      outlier.grown = part;
      outlier.grown_by = grown_by;
    }
    out.push_back(outlier);
  }
  std::ranges::stable_sort(out, [&](const Outlier& a, const Outlier& b) {
    return length(rank.steps[a.index]) > length(rank.steps[b.index]);
  });
  return out;
}

}  // namespace stepscope::analysis
