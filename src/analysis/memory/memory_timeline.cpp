// Memory over a history: by what it holds, by who asked for it, and through passes and steps.
// Definitions: docs/metrics/memory-timeline.md.
#include <algorithm>
#include <array>
#include <string>

#include "analysis/analysis.h"
#include "analysis/memory/held.h"
#include "analysis/memory/snapshot_remarks.h"
#include "analysis/memory/timeline_points.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kAxes = {"events", "time"};
constexpr std::array kParameters = std::to_array<Parameter>({
    {"points", ParameterType::kCount, "200",
     "stretches the history is cut into; each shows its highest moment. 0: every change"},
    {"axis", ParameterType::kChoice, "events", "whether stretches have equally many events or time",
     kAxes},
    {"top", ParameterType::kCount, "8", "places of the program that are followed"},
});

constexpr std::array kShapeColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"floor_bytes", Type::kInt, Unit::kBytes,
     "the least that was allocated from the end of the first step on"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most that was allocated"},
    {"above_floor_bytes", Type::kInt, Unit::kBytes, "what a step needs on top: peak less floor"},
    {"forward_bytes", Type::kInt, Unit::kBytes, "by how much a forward pass grows it; median"},
    {"backward_bytes", Type::kInt, Unit::kBytes, "by how much a backward pass grows it; median"},
    {"floor_at_ns", Type::kInt, Unit::kInstant, "when the floor was first touched"},
    {"floor_event", Type::kInt, Unit::kId, "place in the history"},
    {"steps", Type::kInt, Unit::kCount, "steps in the history; null: nothing tells them"},
    {"steps_from", Type::kText, Unit::kNone, "what tells where steps are"},
});
constexpr std::array kPointColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"step", Type::kInt, Unit::kId, "the step it is in"},
    {"pass", Type::kText, Unit::kNone, "forward, backward or optimizer, as far as stacks tell"},
    {"allocated_bytes", Type::kInt, Unit::kBytes, "all that was allocated"},
    {"parameters_bytes", Type::kInt, Unit::kBytes, "parameters and buffers of modules"},
    {"optimizer_state_bytes", Type::kInt, Unit::kBytes, "what the optimizer keeps"},
    {"gradients_bytes", Type::kInt, Unit::kBytes, "what outlives the backward pass"},
    {"activations_bytes", Type::kInt, Unit::kBytes, "made by the forward pass for the backward"},
    {"inputs_bytes", Type::kInt, Unit::kBytes, "batches"},
    {"temporaries_bytes", Type::kInt, Unit::kBytes, "soon freed again, and libraries' scratch"},
    {"autograd_detail_bytes", Type::kInt, Unit::kBytes, "within the backward pass only"},
    {"communication_bytes", Type::kInt, Unit::kBytes, "for collectives"},
    {"unknown_bytes", Type::kInt, Unit::kBytes, "nothing tells"},
});
constexpr std::array kStackColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"where", Type::kText, Unit::kNone, "the program's line that asked for it; null: all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
    {"stack", Type::kText, Unit::kNone, "all calls, the outermost first"},
});
constexpr std::array kStepColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"step", Type::kInt, Unit::kId, "its number; its place where nothing numbers them"},
    {"start_bytes", Type::kInt, Unit::kBytes, "allocated when it began"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most within it"},
    {"lowest_bytes", Type::kInt, Unit::kBytes, "the least within it"},
    {"end_bytes", Type::kInt, Unit::kBytes, "allocated when it ended"},
    {"change_bytes", Type::kInt, Unit::kBytes, "end less start"},
    {"at_ns", Type::kInt, Unit::kInstant, "when it began, since the first event"},
    {"length_ns", Type::kInt, Unit::kNanos, "from its first to its last event"},
    {"event", Type::kInt, Unit::kId, "its first in the history"},
    {"events", Type::kInt, Unit::kCount, "how many it has"},
});
constexpr std::array kPassColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"step", Type::kInt, Unit::kId, "the step it is in"},
    {"pass", Type::kText, Unit::kNone, "forward, backward or optimizer"},
    {"start_bytes", Type::kInt, Unit::kBytes, "allocated when it began"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most within it"},
    {"lowest_bytes", Type::kInt, Unit::kBytes, "the least within it"},
    {"end_bytes", Type::kInt, Unit::kBytes, "allocated when it ended"},
    {"change_bytes", Type::kInt, Unit::kBytes, "end less start"},
    {"at_ns", Type::kInt, Unit::kInstant, "when it began, since the first event"},
    {"length_ns", Type::kInt, Unit::kNanos, "from its first to its last event"},
    {"event", Type::kInt, Unit::kId, "its first in the history"},
    {"events", Type::kInt, Unit::kCount, "how many it has"},
});
constexpr std::array<std::string_view, kCategories> kStacked = {
    "parameters_bytes",      "optimizer_state_bytes", "gradients_bytes",
    "activations_bytes",     "inputs_bytes",          "temporaries_bytes",
    "autograd_detail_bytes", "communication_bytes",   "unknown_bytes"};
constexpr std::array<std::string_view, 1> kBytes = {"bytes"};
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"shape", "one device: its floor, its peak, and what passes add", kShapeColumns},
    {"timeline",
     "a stretch of the history when the most of it was allocated",
     kPointColumns,
     {base::Chart::kStack, "event", kStacked, "snapshot"}},
    {"steps", "one step of one device", kStepColumns},
    {"passes", "one forward, backward or optimizer pass of one device", kPassColumns},
    {"stacks",
     "what one place of the program had at a moment of the timeline",
     kStackColumns,
     {base::Chart::kLine, "event", kBytes, "where"}},
});

struct Device {
  const SnapshotView& view;
  const SnapshotWork& snapshot;
  const HistoryWork& work;
  const Allocated& curve;
};

struct Range {
  Bytes start = 0, peak = 0, lowest = 0, end = 0;
};

Range range_of(const Allocated& curve, std::uint32_t begin, std::uint32_t end) {
  Range out;
  out.start = begin == 0 ? curve.before : curve.after[begin - 1];
  out.peak = out.lowest = out.start;
  for (std::uint32_t event = begin; event < end; ++event) {
    out.peak = std::max(out.peak, curve.after[event]);
    out.lowest = std::min(out.lowest, curve.after[event]);
  }
  out.end = end == begin ? out.start : curve.after[end - 1];
  return out;
}

base::Cell length_of(const HistoryWork& work, std::uint32_t begin, std::uint32_t end) {
  const auto first = time_of(work, begin);
  if (!first || end <= begin) return Null{};
  return *time_of(work, end - 1) - *first;
}

bool has_steps(const HistoryWork& work) {
  return work.steps.from != StepBorders::kEqualParts && work.steps.size() > 0;
}

std::uint32_t step_end(const HistoryWork& work, std::size_t step) {
  return step + 1 < work.steps.size() ? work.steps.begin[step + 1] : work.steps.end;
}

void add_steps(base::Table& table, const Device& of) {
  if (!has_steps(of.work)) return;
  for (std::size_t i = 0; i < of.work.steps.size(); ++i) {
    const std::uint32_t begin = of.work.steps.begin[i];
    const std::uint32_t end = step_end(of.work, i);
    const Range range = range_of(of.curve, begin, end);
    table.add({of.view.rank, of.view.label, of.work.history->device, of.work.steps.number[i],
               range.start, range.peak, range.lowest, range.end, range.end - range.start,
               time_of(of.work, begin), length_of(of.work, begin, end), begin, end - begin});
  }
}

void add_passes(base::Table& table, const Device& of) {
  for (const Pass& pass : of.work.categories.passes.list) {
    const Range range = range_of(of.curve, pass.begin, pass.end);
    table.add({of.view.rank, of.view.label, of.work.history->device,
               step_number(of.work, pass.begin), name_of(pass.kind), range.start, range.peak,
               range.lowest, range.end, range.end - range.start, time_of(of.work, pass.begin),
               length_of(of.work, pass.begin, pass.end), pass.begin, pass.end - pass.begin});
  }
}

base::Cell median_change(const Device& of, PassKind kind) {
  std::vector<Bytes> changes;
  for (const Pass& pass : of.work.categories.passes.list) {
    if (pass.kind != kind) continue;
    const Bytes start = pass.begin == 0 ? of.curve.before : of.curve.after[pass.begin - 1];
    changes.push_back(of.curve.after[pass.end - 1] - start);
  }
  if (changes.empty()) return Null{};
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>((changes.size() - 1) / 2);
  std::ranges::nth_element(changes, middle);
  return *middle;
}

void add_shape(base::Table& table, const Device& of) {
  const HistoryWork& work = of.work;
  static constexpr std::array<std::string_view, 3> kFrom = {"marks", "backward passes", ""};
  const bool steps = has_steps(work);
  base::Cell floor = Null{}, above = Null{}, at = Null{}, event = Null{};
  if (steps && step_end(work, 0) < of.curve.after.size()) {
    const auto from = of.curve.after.begin() + step_end(work, 0) - 1;
    const auto lowest = std::min_element(from, of.curve.after.end());
    const auto place = static_cast<std::uint32_t>(lowest - of.curve.after.begin());
    floor = *lowest;
    above = of.curve.peak_bytes - *lowest;
    at = time_of(work, place);
    event = place;
  }
  table.add({of.view.rank, of.view.label, work.history->device, floor, of.curve.peak_bytes, above,
             median_change(of, PassKind::kForward), median_change(of, PassKind::kBackward), at,
             event, steps ? base::Cell(work.steps.size()) : Null{},
             steps ? base::Cell(kFrom[static_cast<std::size_t>(work.steps.from)]) : Null{}});
}

void add_points(base::Table& table, base::Table& stacks, const Device& of, const Options& options) {
  const Held peak = held_at(of.work, of.curve.peak);
  std::vector<std::uint32_t> groups;
  for (const HeldStack& stack : peak.stacks) {
    if (groups.size() == static_cast<std::size_t>(options.count("top"))) break;
    if (std::ranges::find(groups, stack.group) == groups.end()) groups.push_back(stack.group);
  }
  const TimelineAxis axis =
      options.text("axis") == "time" ? TimelineAxis::kTime : TimelineAxis::kEvents;
  const std::vector<TimelinePoint> points = timeline_points(
      of.work, of.curve, axis, static_cast<std::size_t>(options.count("points")), groups);
  const std::int32_t device = of.work.history->device;
  for (const TimelinePoint& point : points) {
    const auto& c = point.categories;
    const std::string_view pass = pass_name(of.work, point.event);
    table.add({of.view.rank, of.view.label, device, point.event, time_of(of.work, point.event),
               step_number(of.work, point.event), pass.empty() ? base::Cell(Null{}) : pass,
               point.bytes, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]});
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const memory::StackId stack = of.snapshot.texts.first_of(groups[g]);
    const std::string telling = of.snapshot.texts.telling(stack);
    const std::string where = telling.empty() ? "(no stack)" : telling;
    const std::string folded = of.snapshot.texts.folded(stack);
    for (const TimelinePoint& point : points) {
      stacks.add({of.view.rank, of.view.label, device, where, point.event,
                  time_of(of.work, point.event), point.groups[g],
                  folded.empty() ? base::Cell(Null{}) : base::Cell(folded)});
    }
  }
  for (const TimelinePoint& point : points) {
    Bytes rest = point.bytes;
    for (const Bytes bytes : point.groups) rest -= bytes;
    stacks.add({of.view.rank, of.view.label, device, Null{}, point.event,
                time_of(of.work, point.event), rest, Null{}});
  }
}

Answer run(const RunView& view, const Options& options) {
  Answer answer;
  for (const base::TableShape& shape : kTables) answer.tables.emplace_back(shape);
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (is_empty(device)) continue;
      const Allocated curve = allocated(device);
      const Device of{snapshot, work, device, curve};
      add_shape(answer.tables[0], of);
      add_points(answer.tables[1], answer.tables[4], of, options);
      add_steps(answer.tables[2], of);
      add_passes(answer.tables[3], of);
      add_remarks(answer, snapshot, device);
    }
  }
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemoryTimeline{
    .name = "memory-timeline",
    .title = "Memory over time",
    .question = "What is in memory over time, and how do steps and passes change it?",
    .parameters = kParameters,
    .tables = kTables,
    .run = run,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
