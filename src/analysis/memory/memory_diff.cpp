// Snapshots side by side: ranks of a job, or one program before and after a change. Who grew, at
// the peak and at the end. Definitions: docs/metrics/memory-diff.md.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

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

constexpr std::array kMemoryDiffParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "places of the program, those that differ most. 0: all"},
});

constexpr std::array kSnapshotColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"peak_bytes", Type::kInt, Unit::kBytes, "most allocated"},
    {"peak_less_median_bytes", Type::kInt, Unit::kBytes, "than the median of all rows"},
    {"end_bytes", Type::kInt, Unit::kBytes, "allocated at the end"},
    {"end_less_median_bytes", Type::kInt, Unit::kBytes, "than the median of all rows"},
    {"outlier", Type::kBool, Unit::kNone,
     "of three or more, the one whose peak is furthest from the median, by more than 5 % of it"},
    {"parameters_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"optimizer_state_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"gradients_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"activations_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"inputs_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"temporaries_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"autograd_detail_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"communication_bytes", Type::kInt, Unit::kBytes, "at the peak"},
    {"unknown_bytes", Type::kInt, Unit::kBytes, "at the peak"},
});
constexpr std::array kMemoryDiffCategoryColumns = std::to_array<base::ColumnShape>({
    {"moment", Type::kText, Unit::kNone, "each one's peak, or its end"},
    {"category", Type::kText, Unit::kNone, "what the memory holds; null: all of it"},
    {"change_bytes", Type::kInt, Unit::kBytes, "last less first"},
    {"first_bytes", Type::kInt, Unit::kBytes, "in the first snapshot"},
    {"last_bytes", Type::kInt, Unit::kBytes, "in the last snapshot"},
    {"min_bytes", Type::kInt, Unit::kBytes, "the least of all"},
    {"min_snapshot", Type::kText, Unit::kNone, "that has it"},
    {"max_bytes", Type::kInt, Unit::kBytes, "the most of all"},
    {"max_snapshot", Type::kText, Unit::kNone, "that has it"},
});
constexpr std::array kMemoryDiffStackColumns = std::to_array<base::ColumnShape>({
    {"moment", Type::kText, Unit::kNone, "each one's peak, or its end"},
    {"where", Type::kText, Unit::kNone, "the program's line that asked for it"},
    {"category", Type::kText, Unit::kNone, "what the memory holds"},
    {"change_bytes", Type::kInt, Unit::kBytes, "last less first"},
    {"first_bytes", Type::kInt, Unit::kBytes, "in the first snapshot"},
    {"last_bytes", Type::kInt, Unit::kBytes, "in the last snapshot"},
    {"min_bytes", Type::kInt, Unit::kBytes, "the least of all"},
    {"min_snapshot", Type::kText, Unit::kNone, "that has it"},
    {"max_bytes", Type::kInt, Unit::kBytes, "the most of all"},
    {"max_snapshot", Type::kText, Unit::kNone, "that has it"},
    {"first_allocations", Type::kInt, Unit::kCount, "in the first snapshot"},
    {"last_allocations", Type::kInt, Unit::kCount, "in the last snapshot"},
    {"stack", Type::kText, Unit::kNone, "all calls, the outermost first"},
});
constexpr std::array<std::string_view, 2> kPeakAndEnd = {"peak_bytes", "end_bytes"};
constexpr std::array kMemoryDiffTables = std::to_array<base::TableShape>({
    {"snapshots",
     "one device of one snapshot beside the others",
     kSnapshotColumns,
     {base::Chart::kBars, "snapshot", kPeakAndEnd}},
    {"categories", "one sort of contents in all snapshots", kMemoryDiffCategoryColumns},
    {"stacks",
     "one place of the program that differs between snapshots, the largest difference first",
     kMemoryDiffStackColumns},
});

enum MemoryDiffMoment : std::size_t { kPeak, kEnd, kMomentCount };
constexpr std::array<std::string_view, kMomentCount> kMomentNames = {"peak", "end"};

// One device of one snapshot.
struct Side {
  const SnapshotView* view;
  const SnapshotWork* snapshot;
  const HistoryWork* work;
  std::array<Held, kMomentCount> held;
  std::string label;  // with the device where a snapshot has several
};

struct Value {
  Bytes bytes = 0;
  std::uint64_t allocations = 0;
};
// What one row has in every side.
using Values = std::vector<Value>;

struct Spread {
  std::size_t min = 0, max = 0;
  Bytes change = 0;
};
Spread spread_of(const Values& values) {
  const auto [min, max] = std::ranges::minmax_element(values, {}, &Value::bytes);
  return {static_cast<std::size_t>(min - values.begin()),
          static_cast<std::size_t>(max - values.begin()),
          values.back().bytes - values.front().bytes};
}

Bytes memory_diff_median_of(const std::vector<Side>& sides, MemoryDiffMoment moment) {
  std::vector<Bytes> all;
  all.reserve(sides.size());
  for (const Side& side : sides) all.push_back(side.held[moment].all.bytes);
  std::ranges::sort(all);
  return all[(all.size() - 1) / 2];
}

void add_snapshots(base::Table& table, const std::vector<Side>& sides) {
  const Bytes peak = memory_diff_median_of(sides, kPeak);
  const Bytes end = memory_diff_median_of(sides, kEnd);
  const auto distance = [&](const Side& side) {
    return std::abs(side.held[kPeak].all.bytes - peak);
  };
  const auto furthest = std::ranges::max_element(sides, {}, distance);
  for (const Side& side : sides) {
    const Held& held = side.held[kPeak];
    const Bytes at_end = side.held[kEnd].all.bytes;
    const bool outlier = sides.size() >= 3 && &side == &*furthest && distance(side) > peak / 20;
    const auto& c = held.categories;
    table.add({side.view->rank, side.view->label, side.work->history->device, held.all.bytes,
               held.all.bytes - peak, at_end, at_end - end, outlier, c[0].bytes, c[1].bytes,
               c[2].bytes, c[3].bytes, c[4].bytes, c[5].bytes, c[6].bytes, c[7].bytes, c[8].bytes});
  }
}

void add_category(base::Table& table, const std::vector<Side>& sides, MemoryDiffMoment moment,
                  base::Cell category, const Values& values) {
  const Spread spread = spread_of(values);
  table.add({kMomentNames[moment], category, spread.change, values.front().bytes,
             values.back().bytes, values[spread.min].bytes, sides[spread.min].label,
             values[spread.max].bytes, sides[spread.max].label});
}

void add_memory_diff_categories(base::Table& table, const std::vector<Side>& sides,
                                MemoryDiffMoment moment) {
  for (std::size_t c = 0; c < kCategories; ++c) {
    Values values;
    for (const Side& side : sides) {
      const HeldSum& sum = side.held[moment].categories[c];
      values.push_back({sum.bytes, sum.allocations});
    }
    const bool any = std::ranges::any_of(values, [](const Value& v) { return v.allocations > 0; });
    if (any) add_category(table, sides, moment, name_of(static_cast<Category>(c)), values);
  }
  Values all;
  for (const Side& side : sides) all.push_back({side.held[moment].all.bytes, 0});
  add_category(table, sides, moment, Null{}, all);
}

struct MemoryDiffPlace {
  std::string where;
  Values values;
};

void add_memory_diff_stacks(base::Table& table, const std::vector<Side>& sides,
                            MemoryDiffMoment moment, std::size_t top) {
  std::map<std::pair<std::string, Category>, MemoryDiffPlace> places;  // by the whole stack
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const StackTexts& texts = sides[s].snapshot->texts;
    for (const HeldStack& stack : sides[s].held[moment].stacks) {
      const memory::StackId id = texts.first_of(stack.group);
      MemoryDiffPlace& place = places[{texts.folded(id), stack.category}];
      if (place.values.empty()) place = {texts.representative(id), Values(sides.size())};
      if (place.where.empty()) place.where = "(no stack)";
      place.values[s].bytes += stack.sum.bytes;
      place.values[s].allocations += stack.sum.allocations;
    }
  }
  std::vector<std::tuple<Bytes, Bytes, const decltype(places)::value_type*>> order;
  for (const auto& place : places) {
    const Values& values = place.second.values;
    const Spread spread = spread_of(values);
    const Bytes most = values[spread.max].bytes;
    const Bytes differs = most - values[spread.min].bytes;
    if (differs > 0 || sides.size() < 2) order.emplace_back(differs, most, &place);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& one) {
    return std::pair(std::get<0>(one), std::get<1>(one));
  });
  if (top > 0 && order.size() > top) order.resize(top);
  for (const auto& [differs, most, place] : order) {
    const auto& [key, found] = *place;
    const Values& values = found.values;
    const Spread spread = spread_of(values);
    table.add({kMomentNames[moment], found.where, name_of(key.second), spread.change,
               values.front().bytes, values.back().bytes, values[spread.min].bytes,
               sides[spread.min].label, most, sides[spread.max].label, values.front().allocations,
               values.back().allocations,
               key.first.empty() ? base::Cell(Null{}) : base::Cell(key.first)});
  }
}

std::vector<Side> sides_of(const RunView& view) {
  std::vector<Side> sides;
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (is_empty(device)) continue;
      const std::size_t events = device.history->length();
      const std::uint32_t end = events == 0 ? kNoEvent : static_cast<std::uint32_t>(events - 1);
      std::string label = snapshot.label;
      if (work.devices.size() > 1) label += ", device " + std::to_string(device.history->device);
      sides.push_back({&snapshot,
                       &work,
                       &device,
                       {held_at(device, allocated(device).peak), held_at(device, end)},
                       std::move(label)});
    }
  }
  return sides;
}

Answer run_memory_diff(const RunView& view, const Options& options) {
  Answer answer;
  for (const base::TableShape& shape : kMemoryDiffTables) answer.tables.emplace_back(shape);
  const std::vector<Side> sides = sides_of(view);
  for (const Side& side : sides) add_remarks(answer, *side.view, *side.work);
  if (sides.size() < 2) {
    answer.remarks.emplace_back(
        "There is one snapshot of one device: give two or more to compare them.");
  }
  if (sides.empty()) return answer;
  add_snapshots(answer.tables[0], sides);
  for (const MemoryDiffMoment moment : {kPeak, kEnd}) {
    add_memory_diff_categories(answer.tables[1], sides, moment);
    add_memory_diff_stacks(answer.tables[2], sides, moment,
                           static_cast<std::size_t>(options.count("top")));
  }
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemoryDiff{
    .name = "memory-diff",
    .title = "Memory compared",
    .question = "Which snapshot or rank uses more memory than the others, and for what?",
    .parameters = kMemoryDiffParameters,
    .tables = kMemoryDiffTables,
    .run = run_memory_diff,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
