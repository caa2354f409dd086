// Memory over a history: by what it holds, by who asked for it, and through passes and steps.
// Definitions: docs/metrics/memory-timeline.md.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>

#include "analysis/analysis.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/memory/timeline_tables.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;

constexpr std::array<std::string_view, 2> kAxes = {"events", "time"};
constexpr std::array kMemoryTimelineParameters = std::to_array<Parameter>({
    {"points", ParameterType::kCount, "200",
     "stretches the history is cut into; each shows its highest moment. 0: every change"},
    {"axis", ParameterType::kChoice, "events",
     "whether stretches have equally many events or time; charts go over the same", kAxes},
    {"top", ParameterType::kCount, "8", "places, modules and annotations that are followed"},
    {"module-depth", ParameterType::kCount, "0", "levels of modules inside of modules. 0: all"},
});

struct MemoryTimelineRange {
  Bytes start = 0, peak = 0, lowest = 0, end = 0;
};

MemoryTimelineRange memory_timeline_range_of(const Allocated& curve, std::uint32_t begin,
                                             std::uint32_t end) {
  MemoryTimelineRange out;
  out.start = begin == 0 ? curve.before : curve.after[begin - 1];
  out.peak = out.lowest = out.start;
  for (std::uint32_t event = begin; event < end; ++event) {
    out.peak = std::max(out.peak, curve.after[event]);
    out.lowest = std::min(out.lowest, curve.after[event]);
  }
  out.end = end == begin ? out.start : curve.after[end - 1];
  return out;
}

base::Cell memory_timeline_length_of(const HistoryWork& work, std::uint32_t begin,
                                     std::uint32_t end) {
  const auto first = time_of(work, begin);
  if (!first || end <= begin) return Null{};
  return *time_of(work, end - 1) - *first;
}

bool has_memory_timeline_steps(const HistoryWork& work) {
  return work.steps.from != StepBorders::kEqualParts && work.steps.size() > 0;
}

std::uint32_t step_end(const HistoryWork& work, std::size_t step) {
  return step + 1 < work.steps.size() ? work.steps.begin[step + 1] : work.steps.end;
}

void add_memory_timeline_steps(base::Table& table, const TimelineDevice& of) {
  if (!has_memory_timeline_steps(of.work)) return;
  for (std::size_t i = 0; i < of.work.steps.size(); ++i) {
    const std::uint32_t begin = of.work.steps.begin[i];
    const std::uint32_t end = step_end(of.work, i);
    const MemoryTimelineRange range = memory_timeline_range_of(of.curve, begin, end);
    table.add({of.view.rank, of.view.label, of.work.history->device, of.work.steps.number[i],
               range.start, range.peak, range.lowest, range.end, range.end - range.start,
               time_of(of.work, begin), memory_timeline_length_of(of.work, begin, end), begin,
               end - begin});
  }
}

void add_passes(base::Table& table, const TimelineDevice& of) {
  for (const Pass& pass : of.work.categories.passes.list) {
    const MemoryTimelineRange range = memory_timeline_range_of(of.curve, pass.begin, pass.end);
    table.add({of.view.rank, of.view.label, of.work.history->device,
               step_number(of.work, pass.begin), name_of(pass.kind), range.start, range.peak,
               range.lowest, range.end, range.end - range.start, time_of(of.work, pass.begin),
               memory_timeline_length_of(of.work, pass.begin, pass.end), pass.begin,
               pass.end - pass.begin});
  }
}

base::Cell median_change(const TimelineDevice& of, PassKind kind) {
  std::vector<Bytes> changes;
  for (const Pass& pass : of.work.categories.passes.list) {
    if (pass.kind != kind) continue;
    const Bytes start = pass.begin == 0 ? of.curve.before : of.curve.after[pass.begin - 1];
    changes.push_back(of.curve.after[pass.end - 1] - start);
  }
  if (changes.empty()) return Null{};
  std::ranges::sort(changes);
  const std::size_t half = changes.size() / 2;
  return changes.size() % 2 == 1 ? changes[half] : std::midpoint(changes[half - 1], changes[half]);
}

// The event of the least from the end of the first step on.
std::optional<std::uint32_t> floor_of(const HistoryWork& work, const Allocated& curve) {
  if (!has_memory_timeline_steps(work) || step_end(work, 0) >= curve.after.size())
    return std::nullopt;
  const auto from = curve.after.begin() + step_end(work, 0) - 1;
  return static_cast<std::uint32_t>(std::min_element(from, curve.after.end()) -
                                    curve.after.begin());
}

void add_shape(base::Table& table, const TimelineDevice& of) {
  const HistoryWork& work = of.work;
  static constexpr std::array<std::string_view, 3> kFrom = {"marks", "backward passes", ""};
  const bool steps = has_memory_timeline_steps(work);
  base::Cell floor = Null{}, above = Null{}, at = Null{}, event = Null{};
  if (of.floor) {
    const Bytes lowest = of.curve.after[*of.floor];
    floor = lowest;
    above = of.curve.peak_bytes - lowest;
    at = time_of(work, *of.floor);
    event = *of.floor;
  }
  table.add({of.view.rank, of.view.label, work.history->device, floor, of.curve.peak_bytes, above,
             median_change(of, PassKind::kForward), median_change(of, PassKind::kBackward), at,
             event, steps ? base::Cell(work.steps.size()) : Null{},
             steps ? base::Cell(kFrom[static_cast<std::size_t>(work.steps.from)]) : Null{}});
}

// Charts go over time where all times are known, and differ: every change has many at one moment.
bool is_over_time(const RunView& view, const Options& options) {
  if (axis_of(options) != TimelineAxis::kTime || options.count("points") == 0) return false;
  return std::ranges::all_of(view.snapshots, [](const SnapshotView& snapshot) {
    return std::ranges::all_of(work_of(snapshot).devices, [](const HistoryWork& device) {
      return is_empty(device) || time_of(device, 0).has_value();
    });
  });
}

Answer run_memory_timeline(const RunView& view, const Options& options) {
  Answer answer;
  const auto& shapes = is_over_time(view, options) ? kTimelineShapesByTime : kTimelineShapes;
  for (const base::TableShape& shape : shapes) answer.tables.emplace_back(shape);
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (is_empty(device)) continue;
      const Allocated curve = allocated(device);
      const std::optional<std::uint32_t> floor = floor_of(device, curve);
      const TimelineDevice of{
          view, snapshot, work, device, curve, floor, floor ? step_end(device, 0) - 1 : 0};
      add_shape(answer.tables[kShapeTable], of);
      add_points(answer.tables, of, options);
      add_memory_timeline_steps(answer.tables[kStepTable], of);
      add_passes(answer.tables[kPassTable], of);
      add_remarks(answer, snapshot, device);
    }
  }
  for (const ExportedView& timeline : view.timelines) {
    add_exported(answer, timeline, static_cast<std::size_t>(options.count("points")),
                 axis_of(options));
  }
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemoryTimeline{
    .name = "memory-timeline",
    .title = "Memory over time",
    .question = "What is in memory over time, and how do steps and passes change it?",
    .parameters = kMemoryTimelineParameters,
    .tables = kTimelineShapes,
    .run = run_memory_timeline,
    .needs = Needs::kSnapshotOrTimeline,
};

}  // namespace stepscope::analysis
