// Shows a memory timeline that torch's profiler exported, in the tables of memory-timeline.
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "analysis/memory/timeline_tables.h"
#include "memory/timeline.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;
using memory::TimelineCategory;

Bytes total_of(const memory::TimelinePoint& point) {
  Bytes sum = 0;
  for (const Bytes bytes : point.alive) sum += bytes;
  return sum;
}

// The place with the most of each stretch; for 0 points, all of them.
std::vector<std::uint32_t> highest(const memory::Timeline& timeline, std::size_t points,
                                   TimelineAxis axis) {
  const auto& list = timeline.points;
  const auto places = static_cast<std::uint32_t>(list.size());
  const auto height = [&](std::size_t i) { return total_of(list[i]); };
  if (axis == TimelineAxis::kTime && points > 0) {
    const auto time = [&](std::size_t i) { return list[i].time; };
    return highest_over_time(places, points, time, height);
  }
  return highest_of(places, stretches_of_places(places, points == 0 ? places : points), height);
}

std::optional<std::int64_t> number_at(const ExportedView& view, base::Nanos time) {
  const auto after = std::ranges::upper_bound(view.steps, time, {}, &SnapshotStep::start);
  if (after == view.steps.begin() || time >= std::prev(after)->end) return std::nullopt;
  return std::prev(after)->number;
}

struct StepRange {
  std::size_t begin, end;  // points
};

void add_exported_timeline_steps(base::Table& table, const ExportedView& view) {
  const auto& list = view.timeline->points;
  const auto place = [&](base::Nanos time) {
    return static_cast<std::size_t>(
        std::ranges::lower_bound(list, time, {}, &memory::TimelinePoint::time) - list.begin());
  };
  for (const SnapshotStep& step : view.steps) {
    const StepRange range{place(step.start), place(step.end)};
    if (range.begin >= range.end) continue;
    const Bytes start = total_of(list[range.begin == 0 ? 0 : range.begin - 1]);
    Bytes peak = start;
    Bytes lowest = start;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      peak = std::max(peak, total_of(list[i]));
      lowest = std::min(lowest, total_of(list[i]));
    }
    const Bytes end = total_of(list[range.end - 1]);
    table.add({view.rank, view.label, Null{}, step.number, start, peak, lowest, end, end - start,
               list[range.begin].time - list.front().time,
               list[range.end - 1].time - list[range.begin].time, range.begin,
               range.end - range.begin});
  }
}

}  // namespace

void add_exported(Answer& answer, const ExportedView& view, std::size_t points, TimelineAxis axis) {
  const memory::Timeline& timeline = *view.timeline;
  if (timeline.points.empty()) {
    answer.remarks.push_back(fmt::format("{}: the exported timeline is empty.", view.label));
    return;
  }
  const auto& list = timeline.points;
  const auto peak = std::ranges::max_element(list, {}, total_of);
  answer.tables[kShapeTable].add(
      {view.rank, view.label, Null{}, Null{}, total_of(*peak), Null{}, Null{}, Null{}, Null{},
       Null{}, view.steps.empty() ? base::Cell(Null{}) : base::Cell(view.steps.size()),
       view.steps.empty() ? base::Cell(Null{}) : base::Cell("marks")});
  for (const std::uint32_t i : highest(timeline, points, axis)) {
    const memory::TimelinePoint& point = list[i];
    const auto alive_in = [&](TimelineCategory category) {
      return point.alive[static_cast<std::size_t>(category)];
    };
    answer.tables[kPointTable].add(
        {view.rank, view.label, Null{}, i, point.time - list.front().time,
         number_at(view, point.time), Null{}, total_of(point),
         alive_in(TimelineCategory::kParameter), alive_in(TimelineCategory::kOptimizerState),
         alive_in(TimelineCategory::kGradient), alive_in(TimelineCategory::kActivation),
         alive_in(TimelineCategory::kInput), alive_in(TimelineCategory::kTemporary),
         alive_in(TimelineCategory::kAutogradDetail), Null{}, alive_in(TimelineCategory::kUnknown),
         Null{}});
  }
  add_exported_timeline_steps(answer.tables[kStepTable], view);
  answer.remarks.push_back(
      fmt::format("{}: with the categories of torch's profiler; it has none for communication, and "
                  "no stacks.",
                  view.label));
}

}  // namespace stepscope::analysis
