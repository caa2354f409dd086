// What was allocated when the most was, and the request that made it the most.
// Definitions: docs/metrics/memory-peak.md.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kMemoryPeakMoments = {"peak", "end"};
constexpr std::array kMemoryPeakParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "stacks per device; the rest is one row. 0: all"},
    {"at", ParameterType::kChoice, "peak", "which moment: when the most was allocated, or the end",
     kMemoryPeakMoments},
});

constexpr std::array kMemoryPeakPeakColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"bytes", Type::kInt, Unit::kBytes, "allocated at that moment"},
    {"allocations", Type::kInt, Unit::kCount, "that the program had"},
    {"at_ns", Type::kInt, Unit::kInstant, "when, since the first event"},
    {"step", Type::kInt, Unit::kId, "the step it was in"},
    {"pass", Type::kText, Unit::kNone, "forward, backward or optimizer, as far as stacks tell"},
    {"last_bytes", Type::kInt, Unit::kBytes, "size of the last allocation before that moment"},
    {"last_where", Type::kText, Unit::kNone, "the program's line that asked for it"},
    {"last_category", Type::kText, Unit::kNone, "what it holds"},
    {"event", Type::kInt, Unit::kId, "place in the history; null: before its first event"},
    {"last_stack", Type::kText, Unit::kNone, "all calls that led to it, the outermost first"},
});
constexpr std::array kMemoryPeakCategoryColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"category", Type::kText, Unit::kNone,
     "what the memory holds, from stacks, order and lifetimes"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated at that moment"},
    {"share", Type::kReal, Unit::kShare, "of all that was allocated at that moment"},
    {"allocations", Type::kInt, Unit::kCount, "how many"},
    {"largest_bytes", Type::kInt, Unit::kBytes, "the largest of them"},
});
constexpr std::array kMemoryPeakStackColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"where", Type::kText, Unit::kNone,
     "the program's line that asked for it; null: all the others together"},
    {"category", Type::kText, Unit::kNone, "what the memory holds; null: of all the others"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated at that moment"},
    {"share", Type::kReal, Unit::kShare, "of all that was allocated at that moment"},
    {"allocations", Type::kInt, Unit::kCount, "how many"},
    {"largest_bytes", Type::kInt, Unit::kBytes, "the largest of them"},
    {"oldest_ns", Type::kInt, Unit::kNanos, "age of the oldest; null: older than the history"},
    {"stack", Type::kText, Unit::kNone, "all calls, the outermost first"},
});
constexpr std::array kSizeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"up_to_bytes", Type::kInt, Unit::kBytes, "blocks up to this size and above half of it"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated at that moment"},
    {"share", Type::kReal, Unit::kShare, "of all that was allocated at that moment"},
    {"allocations", Type::kInt, Unit::kCount, "how many"},
});
constexpr std::array kAgeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"made", Type::kText, Unit::kNone, "when it was allocated"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated at that moment"},
    {"share", Type::kReal, Unit::kShare, "of all that was allocated at that moment"},
    {"allocations", Type::kInt, Unit::kCount, "how many"},
});
constexpr std::array<std::string_view, 1> kMemoryPeakBar = {"bytes"};
constexpr std::array kMemoryPeakTables = std::to_array<base::TableShape>({
    {"peak", "one device: when the most was allocated, and the allocation that reached it",
     kMemoryPeakPeakColumns},
    {"categories",
     "one sort of contents of one device at that moment",
     kMemoryPeakCategoryColumns,
     {base::Chart::kBars, "category", kMemoryPeakBar, "snapshot"}},
    {"stacks",
     "what one place of the program had allocated at that moment, the most first",
     kMemoryPeakStackColumns,
     {base::Chart::kBars, "where", kMemoryPeakBar, "snapshot"}},
    {"sizes",
     "blocks of similar size at that moment",
     kSizeColumns,
     {base::Chart::kHistogram, "up_to_bytes", kMemoryPeakBar, "snapshot"}},
    {"ages", "what was allocated at about the same time", kAgeColumns},
});

struct MemoryPeakDevice {
  const SnapshotView& view;
  const SnapshotWork& snapshot;
  const HistoryWork& work;
  const Held& held;

  double share(Bytes bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(held.all.bytes);  // NaN: null
  }
  base::Cell text(std::string_view text) const {
    return text.empty() ? base::Cell(Null{}) : base::Cell(text);
  }
  std::string where(memory::StackId stack) const {
    std::string representative = snapshot.texts.representative(stack);
    return representative.empty() ? "(no stack)" : representative;
  }
};

void add_memory_peak(base::Table& table, const MemoryPeakDevice& of) {
  const HistoryWork& work = of.work;
  const std::uint32_t event = of.held.event;
  AllocationId last = kNoAllocation;
  for (const AllocationId id : of.held.allocations) {
    if (!work.allocations.list[id].is_older()) last = id;  // in the order of their allocation
  }
  std::string where, stack;
  if (last != kNoAllocation) {
    where = of.where(work.allocations.list[last].stack);
    stack = of.snapshot.texts.folded(work.allocations.list[last].stack);
  }
  const bool known = last != kNoAllocation;
  table.add({of.view.rank, of.view.label, work.history->device, of.held.all.bytes,
             of.held.all.allocations, time_of(work, event), step_number(work, event),
             of.text(pass_name(work, event)),
             known ? base::Cell(work.replay.block_size[last]) : Null{}, of.text(where),
             known ? base::Cell(name_of(work.categories.category[last])) : Null{},
             event == kNoEvent ? base::Cell(Null{}) : base::Cell(event), of.text(stack)});
}

void add_memory_peak_categories(base::Table& table, const MemoryPeakDevice& of) {
  for (std::size_t c = 0; c < kCategories; ++c) {
    const HeldSum& sum = of.held.categories[c];
    if (sum.allocations == 0) continue;
    table.add({of.view.rank, of.view.label, of.work.history->device,
               name_of(static_cast<Category>(c)), sum.bytes, of.share(sum.bytes), sum.allocations,
               sum.largest});
  }
}

base::Cell age_of(const MemoryPeakDevice& of, AllocationId id) {
  const Allocation& life = of.work.allocations.list[id];
  const auto now = time_of(of.work, of.held.event);
  if (life.is_older() || !now) return Null{};
  return *now - *time_of(of.work, life.alloc);
}

void add_memory_peak_stacks(base::Table& table, const MemoryPeakDevice& of, std::size_t top) {
  const std::vector<HeldStack>& stacks = of.held.stacks;
  const bool fits = top == 0 || stacks.size() <= top + 1;
  const std::size_t shown = fits ? stacks.size() : top;
  std::vector<memory::StackId> ids;
  ids.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    ids.push_back(of.snapshot.texts.first_of(stacks[i].group));
  }
  const std::vector<std::string> texts = of.snapshot.texts.told_apart(ids);
  for (std::size_t i = 0; i < shown; ++i) {
    const memory::StackId stack = ids[i];
    const HeldSum& sum = stacks[i].sum;
    table.add({of.view.rank, of.view.label, of.work.history->device,
               texts[i].empty() ? "(no stack)" : texts[i], name_of(stacks[i].category), sum.bytes,
               of.share(sum.bytes), sum.allocations, sum.largest, age_of(of, sum.oldest),
               of.text(of.snapshot.texts.folded(stack))});
  }
  if (fits) return;
  HeldSum rest;
  for (std::size_t i = shown; i < stacks.size(); ++i) {
    rest.bytes += stacks[i].sum.bytes;
    rest.allocations += stacks[i].sum.allocations;
    rest.largest = std::max(rest.largest, stacks[i].sum.largest);
  }
  table.add({of.view.rank, of.view.label, of.work.history->device, Null{}, Null{}, rest.bytes,
             of.share(rest.bytes), rest.allocations, rest.largest, Null{}, Null{}});
}

void add_sizes(base::Table& table, const MemoryPeakDevice& of) {
  std::map<Bytes, HeldSum> classes;
  for (const AllocationId id : of.held.allocations) {
    const Bytes size = of.work.replay.block_size[id];
    const auto up_to = static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(size)));
    classes[up_to].add(id, size);
  }
  for (const auto& [up_to, sum] : classes) {
    table.add({of.view.rank, of.view.label, of.work.history->device, up_to, sum.bytes,
               of.share(sum.bytes), sum.allocations});
  }
}

constexpr std::array<std::string_view, 5> kAges = {"before the history", "before the first step",
                                                   "in an earlier step", "in the step before",
                                                   "in this step"};

std::size_t age_class(const HistoryWork& work, const Allocation& life, std::uint32_t event) {
  if (life.is_older()) return 0;
  const std::int32_t then = work.steps.at(life.alloc);
  const std::int32_t now = event == kNoEvent ? -1 : work.steps.at(event);
  if (then < 0 && life.alloc < work.steps.begin.front()) return 1;
  if (then == now) return 4;
  return then + 1 == now ? 3 : 2;
}

void add_ages(base::Table& table, const MemoryPeakDevice& of) {
  if (of.work.steps.from == StepBorders::kEqualParts || of.work.steps.size() == 0) return;
  std::array<HeldSum, kAges.size()> ages;
  for (const AllocationId id : of.held.allocations) {
    ages[age_class(of.work, of.work.allocations.list[id], of.held.event)].add(
        id, of.work.replay.block_size[id]);
  }
  for (std::size_t i = 0; i < ages.size(); ++i) {
    if (ages[i].allocations == 0) continue;
    table.add({of.view.rank, of.view.label, of.work.history->device, kAges[i], ages[i].bytes,
               of.share(ages[i].bytes), ages[i].allocations});
  }
}

Answer run_memory_peak(const RunView& view, const Options& options) {
  Answer answer;
  for (const base::TableShape& shape : kMemoryPeakTables) answer.tables.emplace_back(shape);
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (is_empty(device)) continue;
      const std::size_t events = device.history->length();
      const std::uint32_t last = events == 0 ? kNoEvent : static_cast<std::uint32_t>(events - 1);
      const Held held =
          held_at(device, options.text("at") == "end" ? last : allocated(device).peak);
      const MemoryPeakDevice of{snapshot, work, device, held};
      add_memory_peak(answer.tables[0], of);
      add_memory_peak_categories(answer.tables[1], of);
      add_memory_peak_stacks(answer.tables[2], of, static_cast<std::size_t>(options.count("top")));
      add_sizes(answer.tables[3], of);
      add_ages(answer.tables[4], of);
      add_remarks(answer, snapshot, device);
    }
  }
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemoryPeak{
    .name = "memory-peak",
    .title = "Memory at the peak",
    .question = "What filled the memory when the most was allocated?",
    .parameters = kMemoryPeakParameters,
    .tables = kMemoryPeakTables,
    .run = run_memory_peak,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
