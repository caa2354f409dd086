// What grows from step to step and is never freed.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/device_memory.h"
#include "analysis/memory/history/leaks.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kMemoryLeaksParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "10", "places in the program per device. 0: all"},
    kDeviceMemoryParameter,
});

constexpr std::array kOutlookColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"steps", Type::kInt, Unit::kCount, "steps that can tell: not the first, not the last"},
    {"bytes_per_step", Type::kReal, Unit::kBytes, "grown per step and never freed"},
    {"leaked_bytes", Type::kInt, Unit::kBytes, "leaked by these steps"},
    {"device_memory_bytes", Type::kInt, Unit::kBytes,
     "that there is to fill: of the device, or what the process may take; null: not known"},
    {"steps_until_full", Type::kInt, Unit::kCount,
     "steps until the peak no longer fits, if it goes on like this"},
});
constexpr std::array kLeakColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"where", Type::kText, Unit::kNone, "line of the program that asked for the memory"},
    {"bytes_per_step", Type::kReal, Unit::kBytes, "leaked per step; null: no steps are known"},
    {"count_per_step", Type::kReal, Unit::kNone, "allocations leaked per step"},
    {"confidence", Type::kText, Unit::kNone,
     "high: in each of 5 steps or more; medium: in 3 or more; low: less than that"},
    {"category", Type::kText, Unit::kNone, "what it holds, as far as known"},
    {"leaked_bytes", Type::kInt, Unit::kBytes, "leaked so far"},
    {"allocations", Type::kInt, Unit::kCount, "leaked so far"},
    {"in_steps", Type::kInt, Unit::kCount, "steps that leaked something"},
    {"of_steps", Type::kInt, Unit::kCount, "steps since the first of them"},
    {"stack", Type::kText, Unit::kNone, "calls from the outermost to the innermost"},
});
constexpr std::array kOutlivingColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"where", Type::kText, Unit::kNone, "line of the program that asked for the memory"},
    {"size_bytes", Type::kInt, Unit::kBytes, "of each allocation"},
    {"outlive", Type::kInt, Unit::kCount, "allocations used beyond the step after their own"},
    {"siblings", Type::kInt, Unit::kCount, "of the same place and size, freed before"},
    {"alive", Type::kInt, Unit::kCount, "of those that outlive: still there at the end"},
    {"first_step", Type::kInt, Unit::kId, "step of the first that does"},
});
constexpr std::array kGrowthColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    key::kStep,
    {"at_end_bytes", Type::kInt, Unit::kBytes, "requested and in use when the step ends"},
    {"grown_bytes", Type::kInt, Unit::kBytes, "more than when the step before ended"},
    {"leaked_bytes", Type::kInt, Unit::kBytes, "of what this step made: never freed, and a leak"},
});
constexpr std::array<std::string_view, 1> kGrowth = {"at_end_bytes"};
constexpr std::array kMemoryLeaksTables = std::to_array<base::TableShape>({
    {"outlook", "one device: what it loses, and for how long it lasts", kOutlookColumns},
    {"leaks", "one place in the program that leaks memory, the most first", kLeakColumns},
    {"outliving", "a place where some allocations live on for steps and most do not",
     kOutlivingColumns},
    {"growth",
     "one step of one device",
     kGrowthColumns,
     {base::Chart::kLine, "step", kGrowth, "snapshot"}},
});

struct MemoryLeaksTables {
  base::Table outlook{kMemoryLeaksTables[0]}, leaks{kMemoryLeaksTables[1]},
      outliving{kMemoryLeaksTables[2]}, growth{kMemoryLeaksTables[3]};
};

void add_growth(const SnapshotView& view, const HistoryWork& work, const Leaks& leaks,
                MemoryLeaksTables& tables) {
  const std::vector<Bytes> live = live_bytes(work.allocations, *work.history);
  std::vector<Bytes> leaked(work.steps.size());
  for (const Leak& leak : leaks.list) {
    for (const AllocationId id : leak.allocations) {
      const std::int32_t step = work.steps.at(work.allocations.list[id].alloc);
      leaked[static_cast<std::size_t>(step)] += work.allocations.list[id].requested;
    }
  }
  Bytes before = 0;
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    const std::uint32_t end = i + 1 < work.steps.size() ? work.steps.begin[i + 1] : work.steps.end;
    const Bytes at_end = end > 0 ? live[end - 1] : 0;
    tables.growth.add({view.rank, view.label, work.history->device, work.steps.number[i], at_end,
                       i == 0 ? base::Cell(Null{}) : base::Cell(at_end - before), leaked[i]});
    before = at_end;
  }
}

void add_memory_leaks_device(const RunView& run, const SnapshotView& view,
                             const SnapshotWork& snapshot, const HistoryWork& work,
                             const Options& options, MemoryLeaksTables& tables) {
  const Leaks leaks = find_leaks(work.allocations, work.group, work.steps);
  const bool has_steps = work.steps.from != StepBorders::kEqualParts;
  double per_step = 0;
  Bytes bytes = 0;
  for (const Leak& leak : leaks.list) {
    per_step += leak.bytes_per_step();
    bytes += leak.bytes;
  }
  const std::optional<DeviceMemory> device = device_memory(run, view, work, options);
  base::Cell until_full = Null{};
  if (device && per_step > 0 && has_steps) {
    const Bytes left = std::max<Bytes>(0, device->bytes - work.replay.peak_allocated.allocated);
    until_full = static_cast<std::int64_t>(static_cast<double>(left) / per_step);
  }
  tables.outlook.add({view.rank, view.label, work.history->device,
                      has_steps ? base::Cell(leaks.telling_steps) : base::Cell(Null{}),
                      has_steps ? base::Cell(per_step) : base::Cell(Null{}), bytes,
                      device ? base::Cell(device->bytes) : base::Cell(Null{}), until_full});
  const auto top = static_cast<std::size_t>(options.count("top"));
  const auto shown = [&](std::size_t all) { return top == 0 ? all : std::min(all, top); };
  for (std::size_t i = 0; i < shown(leaks.list.size()); ++i) {
    const Leak& leak = leaks.list[i];
    const AllocationId first = leak.allocations.front();
    const memory::StackId stack = work.allocations.list[first].stack;
    tables.leaks.add(
        {view.rank, view.label, work.history->device, snapshot.texts.representative(stack),
         has_steps ? base::Cell(leak.bytes_per_step()) : base::Cell(Null{}),
         has_steps ? base::Cell(leak.count_per_step()) : base::Cell(Null{}),
         name_of(leak.confidence), name_of(work.categories.category[first]), leak.bytes,
         leak.allocations.size(), leak.steps, leak.of_steps, snapshot.texts.folded(stack)});
  }
  for (std::size_t i = 0; i < shown(leaks.outliving.size()); ++i) {
    const Outliving& one = leaks.outliving[i];
    tables.outliving.add({view.rank, view.label, work.history->device,
                          snapshot.texts.representative(work.allocations.list[one.first].stack),
                          one.size, one.outlive, one.all - one.outlive, one.alive,
                          work.steps.number[static_cast<std::size_t>(one.first_step)]});
  }
  if (has_steps) add_growth(view, work, leaks, tables);
}

void add_memory_leaks_remarks(const SnapshotView& view, const HistoryWork& work, Answer& answer) {
  const auto add_remark = [&](std::string_view what) {
    answer.remarks.push_back(said_of(view, work, what));
  };
  say_if_counted(answer, view, work);
  if (work.steps.from == StepBorders::kEqualParts) {
    add_remark(
        "no steps are known, so only memory that grows all the time is called a leak; steps "
        "come from a trace recorded at the same time, record_function or an optimizer's step.");
  } else if (work.steps.size() < 4) {
    add_remark(fmt::format(
        "{} steps are recorded; what grows from step to step shows from 4 on, because the first "
        "warms up and the last is not over.",
        work.steps.size()));
  } else if (work.steps.from == StepBorders::kBackwardPasses) {
    add_remark("no steps are marked; each backward pass counts as one.");
  }
}

Answer run_memory_leaks(const RunView& view, const Options& options) {
  MemoryLeaksTables tables;
  Answer answer;
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (device.history->length() == 0) continue;
      add_memory_leaks_device(view, snapshot, work, device, options, tables);
      add_memory_leaks_remarks(snapshot, device, answer);
    }
  }
  for (base::Table* table : {&tables.outlook, &tables.leaks, &tables.outliving, &tables.growth}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kMemoryLeaks{
    .name = "memory-leaks",
    .title = "Memory leaks",
    .question = "What grows from step to step and is never freed?",
    .parameters = kMemoryLeaksParameters,
    .tables = kMemoryLeaksTables,
    .run = run_memory_leaks,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
