// How much of the measured time a device computes, communicates, moves memory or waits. The four
// parts share out the time: what runs under computing is hidden, what runs alone is exposed.
#include <array>
#include <map>
#include <tuple>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/steps/within.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kTemporalBreakdownParameters = {kWithin};

constexpr base::ColumnShape kTemporalBreakdownMeasured{"measured_ns", Type::kInt, Unit::kNanos,
                                                       "wall time that is shared out"};
constexpr base::ColumnShape kTemporalBreakdownCompute{"compute_ns", Type::kInt, Unit::kNanos,
                                                      "at least one computing kernel runs"};
constexpr base::ColumnShape kExposedCommunication{"exposed_communication_ns", Type::kInt,
                                                  Unit::kNanos,
                                                  "communication runs and nothing computes"};
constexpr base::ColumnShape kExposedMemory{"exposed_memory_ns", Type::kInt, Unit::kNanos,
                                           "copies or memsets run and no kernel does"};
constexpr base::ColumnShape kTemporalBreakdownIdle{"idle_ns", Type::kInt, Unit::kNanos,
                                                   "nothing runs"};
constexpr base::ColumnShape kTemporalBreakdownCommunication{
    "communication_ns", Type::kInt, Unit::kNanos, "communication runs, hidden or not"};
constexpr base::ColumnShape kTemporalBreakdownMemory{"memory_ns", Type::kInt, Unit::kNanos,
                                                     "copies or memsets run, hidden or not"};
constexpr base::ColumnShape kComputeShare{"compute_share", Type::kReal, Unit::kShare,
                                          "of the measured time"};
constexpr base::ColumnShape kCommunicationShare{"exposed_communication_share", Type::kReal,
                                                Unit::kShare, "of the measured time"};
constexpr base::ColumnShape kMemoryShare{"exposed_memory_share", Type::kReal, Unit::kShare,
                                         "of the measured time"};
constexpr base::ColumnShape kTemporalBreakdownIdleShare{"idle_share", Type::kReal, Unit::kShare,
                                                        "of the measured time"};

constexpr std::array kTemporalBreakdownByDevice = {key::kRank,
                                                   key::kDevice,
                                                   kTemporalBreakdownMeasured,
                                                   kTemporalBreakdownCompute,
                                                   kExposedCommunication,
                                                   kExposedMemory,
                                                   kTemporalBreakdownIdle,
                                                   kTemporalBreakdownCommunication,
                                                   kTemporalBreakdownMemory,
                                                   kComputeShare,
                                                   kCommunicationShare,
                                                   kMemoryShare,
                                                   kTemporalBreakdownIdleShare};
constexpr std::array kTemporalBreakdownByStep = {key::kRank,
                                                 key::kWindow,
                                                 key::kStep,
                                                 key::kDevice,
                                                 kTemporalBreakdownMeasured,
                                                 kTemporalBreakdownCompute,
                                                 kExposedCommunication,
                                                 kExposedMemory,
                                                 kTemporalBreakdownIdle,
                                                 kTemporalBreakdownCommunication,
                                                 kTemporalBreakdownMemory};

constexpr std::array kTemporalBreakdownRun = {
    base::ColumnShape{"devices", Type::kInt, Unit::kCount, "devices of all ranks that did work"},
    kTemporalBreakdownMeasured,
    kTemporalBreakdownCompute,
    kExposedCommunication,
    kExposedMemory,
    kTemporalBreakdownIdle,
    kTemporalBreakdownCommunication,
    kTemporalBreakdownMemory,
    kComputeShare,
    kCommunicationShare,
    kMemoryShare,
    kTemporalBreakdownIdleShare};

constexpr std::array<std::string_view, 4> kTemporalBreakdownStacked = {
    "compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns"};
constexpr std::array kTemporalBreakdownTables = std::to_array<base::TableShape>({
    {"devices",
     "one device of one rank",
     kTemporalBreakdownByDevice,
     {base::Chart::kStack, "rank", kTemporalBreakdownStacked}},
    {"steps",
     "one step on one device",
     kTemporalBreakdownByStep,
     {base::Chart::kStack, "step", kTemporalBreakdownStacked, "rank"}},
    {"run", "all devices of all ranks, their times added", kTemporalBreakdownRun},
});

struct TemporalBreakdownParts {
  Nanos measured = 0, compute = 0, exposed_communication = 0, exposed_memory = 0, idle = 0;
  Nanos communication = 0, memory = 0;
  void merge(const TemporalBreakdownParts& other) {
    measured += other.measured;
    compute += other.compute;
    exposed_communication += other.exposed_communication;
    exposed_memory += other.exposed_memory;
    idle += other.idle;
    communication += other.communication;
    memory += other.memory;
  }
};

// The sets a device's time is shared out from, made once per device.
struct TemporalBreakdownSets {
  explicit TemporalBreakdownSets(const DeviceView& device)
      : device_(device), kernels_(unite(device.compute, device.communication)) {}

  TemporalBreakdownParts within(Interval time) const {
    TemporalBreakdownParts p;
    p.measured = time.length();
    p.compute = covered(device_.compute, time);
    p.exposed_communication = covered(kernels_, time) - p.compute;
    const Nanos busy = covered(device_.busy, time);
    p.exposed_memory = busy - p.compute - p.exposed_communication;
    p.idle = p.measured - busy;
    p.communication = covered(device_.communication, time);
    p.memory = covered(device_.memory, time);
    return p;
  }

 private:
  const DeviceView& device_;
  Intervals kernels_;
};

struct TemporalBreakdownPartial {
  std::map<std::int32_t, TemporalBreakdownParts> devices;
  std::vector<std::tuple<std::int64_t, std::int32_t, TemporalBreakdownParts>> steps;
};

TemporalBreakdownPartial compute_temporal_breakdown(const WindowView& window, Within within) {
  TemporalBreakdownPartial out;
  for (const DeviceView& device : window.devices) {
    const TemporalBreakdownSets sets(device);
    TemporalBreakdownParts& whole = out.devices[device.device];
    for (const Interval& stretch : measured_time(window, device, within)) {
      whole.merge(sets.within(stretch));
    }
    if (within == Within::kWork || !window.has_steps) continue;
    for (const StepTime& step : window.steps) {
      if (step.selected) {
        out.steps.emplace_back(step.number, device.device, sets.within(step.span));
      }
    }
  }
  return out;
}

Answer run_temporal_breakdown(const RunView& view, const Options& options) {
  const Within within = within_of(options);
  const auto partials = per_window<TemporalBreakdownPartial>(
      view, [&](const WindowView& window) { return compute_temporal_breakdown(window, within); });

  std::map<std::pair<std::int32_t, std::int32_t>, TemporalBreakdownParts> devices;
  base::Table by_device(kTemporalBreakdownTables[0]);
  base::Table by_step(kTemporalBreakdownTables[1]);
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    for (const auto& [device, parts] : partials[w].devices) {
      devices[{window.rank, device}].merge(parts);
    }
    for (const auto& [step, device, p] : partials[w].steps) {
      by_step.add({window.rank, window.window, step, device, p.measured, p.compute,
                   p.exposed_communication, p.exposed_memory, p.idle, p.communication, p.memory});
    }
  }
  TemporalBreakdownParts all;
  for (const auto& [key, p] : devices) {
    all.merge(p);
    by_device.add({key.first, key.second, p.measured, p.compute, p.exposed_communication,
                   p.exposed_memory, p.idle, p.communication, p.memory,
                   share_of(p.compute, p.measured), share_of(p.exposed_communication, p.measured),
                   share_of(p.exposed_memory, p.measured), share_of(p.idle, p.measured)});
  }
  base::Table run(kTemporalBreakdownTables[2]);
  if (!devices.empty()) {
    run.add({devices.size(), all.measured, all.compute, all.exposed_communication,
             all.exposed_memory, all.idle, all.communication, all.memory,
             share_of(all.compute, all.measured), share_of(all.exposed_communication, all.measured),
             share_of(all.exposed_memory, all.measured), share_of(all.idle, all.measured)});
  }
  Answer answer;
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  answer.tables.push_back(std::move(by_device));
  answer.tables.push_back(std::move(by_step));
  answer.tables.push_back(std::move(run));
  return answer;
}

}  // namespace

const Analysis kTemporalBreakdown{
    .name = "temporal-breakdown",
    .title = "Device time",
    .question = "How much of the time does each GPU compute, communicate, copy, or wait?",
    .parameters = kTemporalBreakdownParameters,
    .tables = kTemporalBreakdownTables,
    .run = run_temporal_breakdown,
};

}  // namespace stepscope::analysis
