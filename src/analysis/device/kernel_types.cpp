// Busy time by what ran at once: computing alone, communication under computing, and so on. Every
// set of classes that was active together is a row of its own, so the rows add up to the busy time.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

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

constexpr std::array kKernelTypesParameters = {kWithin};

constexpr base::ColumnShape kType{"type", Type::kText, Unit::kNone,
                                  "what ran at once: compute, communication, memory, joined by +"};
constexpr base::ColumnShape kKernelTypesTime{"time_ns", Type::kInt, Unit::kNanos,
                                             "time in which exactly this ran, on any stream"};
constexpr base::ColumnShape kBusyShare{"busy_share", Type::kReal, Unit::kShare,
                                       "of the time in which anything ran"};
constexpr base::ColumnShape kMeasuredShare{"measured_share", Type::kReal, Unit::kShare,
                                           "of the measured time"};

constexpr std::array kKernelTypesByDevice = {key::kRank,       key::kDevice, kType,
                                             kKernelTypesTime, kBusyShare,   kMeasuredShare};
constexpr std::array kKernelTypesRun = {kType, kKernelTypesTime, kBusyShare, kMeasuredShare};
constexpr std::array<std::string_view, 1> kKernelTypesBar = {"time_ns"};
constexpr std::array kKernelTypesTables = std::to_array<base::TableShape>({
    {"devices",
     "one set of classes on one device, the longest first",
     kKernelTypesByDevice,
     {base::Chart::kBars, "type", kKernelTypesBar, "rank"}},
    {"run", "one set of classes, the times of all devices added", kKernelTypesRun},
});

// A set of classes is a number of three bits.
constexpr unsigned kKernelTypesCompute = 1;
constexpr unsigned kKernelTypesCommunication = 2;
constexpr unsigned kKernelTypesMemory = 4;
constexpr std::array<std::string_view, 8> kKernelTypesNames = {
    "",       "compute",          "communication",          "compute + communication",
    "memory", "compute + memory", "communication + memory", "compute + communication + memory"};

struct Times {
  std::array<Nanos, 8> exactly = {};  // by set of classes; 0: nothing ran
  void merge(const Times& other) {
    for (std::size_t set = 0; set < exactly.size(); ++set) exactly[set] += other.exactly[set];
  }
};

Times times_of(const DeviceView& device, const Intervals& within) {
  const Intervals compute = intersect(device.compute, within);
  const Intervals communication = intersect(device.communication, within);
  const Intervals memory = intersect(device.memory, within);
  const Intervals both = intersect(compute, communication);
  Times times;
  auto& t = times.exactly;
  // At least these run; then what also has a third is taken off.
  const Nanos all = common(both, memory);
  t[kKernelTypesCompute | kKernelTypesCommunication | kKernelTypesMemory] = all;
  t[kKernelTypesCompute | kKernelTypesCommunication] = total(both) - all;
  t[kKernelTypesCompute | kKernelTypesMemory] = common(compute, memory) - all;
  t[kKernelTypesCommunication | kKernelTypesMemory] = common(communication, memory) - all;
  t[kKernelTypesCompute] = total(compute) - t[kKernelTypesCompute | kKernelTypesCommunication] -
                           t[kKernelTypesCompute | kKernelTypesMemory] - all;
  t[kKernelTypesCommunication] = total(communication) -
                                 t[kKernelTypesCompute | kKernelTypesCommunication] -
                                 t[kKernelTypesCommunication | kKernelTypesMemory] - all;
  t[kKernelTypesMemory] = total(memory) - t[kKernelTypesCompute | kKernelTypesMemory] -
                          t[kKernelTypesCommunication | kKernelTypesMemory] - all;
  Nanos busy = 0;
  for (const Nanos time : t) busy += time;
  t[0] = total(within) - busy;
  return times;
}

template <class Add>
void add_kernel_types_rows(const Times& times, Add add) {
  Nanos measured = 0;
  for (const Nanos time : times.exactly) measured += time;
  const Nanos busy = measured - times.exactly[0];
  std::vector<unsigned> sets;
  for (unsigned set = 1; set < times.exactly.size(); ++set) {
    if (times.exactly[set] > 0) sets.push_back(set);
  }
  std::ranges::stable_sort(sets, std::ranges::greater{},
                           [&](unsigned set) { return times.exactly[set]; });
  for (const unsigned set : sets) {
    const Nanos time = times.exactly[set];
    add(kKernelTypesNames[set], time, share_of(time, busy), share_of(time, measured));
  }
}

Answer run_kernel_types(const RunView& view, const Options& options) {
  using Partial = std::map<std::int32_t, Times>;  // by device
  const Within within = within_of(options);
  const auto partials = per_window<Partial>(view, [&](const WindowView& window) {
    Partial out;
    for (const DeviceView& device : window.devices) {
      out[device.device] = times_of(device, measured_time(window, device, within));
    }
    return out;
  });

  std::map<std::pair<std::int32_t, std::int32_t>, Times> devices;
  Times all;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    for (const auto& [device, times] : partials[w]) {
      devices[{view.windows[w].rank, device}].merge(times);
      all.merge(times);
    }
  }
  base::Table by_device(kKernelTypesTables[0]);
  for (const auto& [place, times] : devices) {
    add_kernel_types_rows(times,
                          [&](std::string_view type, Nanos time, double busy, double measured) {
                            by_device.add({place.first, place.second, type, time, busy, measured});
                          });
  }
  base::Table together(kKernelTypesTables[1]);
  add_kernel_types_rows(all, [&](std::string_view type, Nanos time, double busy, double measured) {
    together.add({type, time, busy, measured});
  });
  Answer answer;
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  answer.tables.push_back(std::move(by_device));
  answer.tables.push_back(std::move(together));
  return answer;
}

}  // namespace

const Analysis kKernelTypes{
    .name = "kernel-types",
    .title = "Kinds of GPU work",
    .question = "What kinds of work keep the GPU busy, and which of them run at the same time?",
    .parameters = kKernelTypesParameters,
    .tables = kKernelTypesTables,
    .run = run_kernel_types,
};

}  // namespace stepscope::analysis
