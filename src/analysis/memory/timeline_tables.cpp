// Fills the tables of memory-timeline.
#include "analysis/memory/timeline_tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/key_columns.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/memory/owners/allocation_owners.h"
#include "analysis/memory/owners/categories.h"

namespace stepscope::analysis {
namespace {

using base::Type;
using base::Unit;

constexpr std::array kShapeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
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
    key::kRank,
    key::kSnapshot,
    {"device", Type::kInt, Unit::kId, "number of the device; null: an exported timeline's"},
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
    {"floor_bytes", Type::kInt, Unit::kBytes,
     "the floor of the table shape; null: the first step has not ended"},
});
constexpr std::array kTimelineTablesStackColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"where", Type::kText, Unit::kNone, "the program's line that asked for it; null: all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
    {"stack", Type::kText, Unit::kNone, "all calls, the outermost first"},
});
constexpr std::array kModuleColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"module", Type::kText, Unit::kNone,
     "the module that asked for it, or whose backward pass did; null: no module, and all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
});
constexpr std::array kTimelineTablesAnnotationColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"annotation", Type::kText, Unit::kNone,
     "the innermost annotation it was made in; null: none, and all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
});
constexpr std::array kTimelineTablesStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
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
    key::kRank,
    key::kSnapshot,
    key::kDevice,
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
constexpr std::array<std::string_view, kCategories> kTimelineTablesStacked = {
    "parameters_bytes",      "optimizer_state_bytes", "gradients_bytes",
    "activations_bytes",     "inputs_bytes",          "temporaries_bytes",
    "autograd_detail_bytes", "communication_bytes",   "unknown_bytes"};
constexpr std::array<std::string_view, 1> kTimelineTablesBytes = {"bytes"};

using Shapes = std::array<base::TableShape, kTimelineTables>;

constexpr base::Drawing parts_by(std::string_view column, std::string_view x) {
  return {.chart = base::Chart::kStack,
          .x = x,
          .y = kTimelineTablesBytes,
          .group = "snapshot",
          .parts = column};
}

constexpr Shapes shapes_over(std::string_view x) {
  return {{
      {"shape", "one device: its floor, its peak, and what passes add", kShapeColumns},
      {"timeline",
       "a stretch of the history when the most of it was allocated",
       kPointColumns,
       {.chart = base::Chart::kStack,
        .x = x,
        .y = kTimelineTablesStacked,
        .group = "snapshot",
        .marks = "step",
        .bands = "pass",
        .level = "floor_bytes"}},
      {"steps", "one step of one device", kTimelineTablesStepColumns},
      {"passes", "one forward, backward or optimizer pass of one device", kPassColumns},
      {"stacks", "what one place of the program had at a moment of the timeline",
       kTimelineTablesStackColumns, parts_by("where", x)},
      {"modules", "what one nn.Module had at a moment of the timeline", kModuleColumns,
       parts_by("module", x)},
      {"annotations", "what was made in one annotation at a moment of the timeline",
       kTimelineTablesAnnotationColumns, parts_by("annotation", x)},
  }};
}

}  // namespace

constinit const Shapes kTimelineShapes = shapes_over("event");
constinit const Shapes kTimelineShapesByTime = shapes_over("at_ns");

namespace {

// Several steps may fall into one stretch of time: their first events are shown, too, as long as
// they are not more than the stretches.
std::vector<std::uint32_t> with_step_begins(const HistoryWork& work,
                                            const std::vector<std::uint32_t>& events,
                                            std::size_t points) {
  const StepEvents& steps = work.steps;
  if (steps.from == StepBorders::kEqualParts || steps.size() > points) return events;
  const auto times = work.history->time.span();
  std::vector<std::uint32_t> all = events;
  for (const std::uint32_t begin : steps.begin) {
    const auto at = std::ranges::lower_bound(events, times[begin], {},
                                             [&](std::uint32_t event) { return times[event]; });
    if (at == events.end() || times[*at] != times[begin]) all.push_back(begin);
  }
  std::ranges::sort(all);
  return all;
}

// The event with the most of each stretch; for 0 points, every event that changes something.
std::vector<std::uint32_t> highest_events(const HistoryWork& work, const Allocated& curve,
                                          TimelineAxis axis, std::size_t points) {
  const auto events = static_cast<std::uint32_t>(work.history->length());
  if (events == 0) return {};
  if (points == 0) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t event = 0; event < events; ++event) {
      if (work.allocations.of_event[event] != kNoAllocation) all.push_back(event);
    }
    return all;
  }
  const auto times = work.history->time.span();
  const auto height = [&](std::size_t event) { return curve.after[event]; };
  if (axis == TimelineAxis::kTime && times.front() != memory::kNoTime) {
    const auto time = [&](std::size_t event) { return times[event]; };
    return with_step_begins(work, highest_over_time(events, points, time, height), points);
  }
  return highest_of(events, stretches_of_places(events, points), height);
}

}  // namespace

std::vector<TimelinePoint> timeline_points(const HistoryWork& work, const Allocated& curve,
                                           TimelineAxis axis, std::size_t points,
                                           std::span<const TimelineGroups> groups) {
  const std::vector<std::uint32_t> wanted = highest_events(work, curve, axis, points);
  std::vector<std::vector<std::uint32_t>> places(groups.size());  // by group: into `shown`
  TimelinePoint now;
  now.bytes = curve.before;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<std::uint32_t>& shown = groups[g].shown;
    for (std::uint32_t i = 0; i < shown.size(); ++i) {
      if (shown[i] >= places[g].size()) places[g].resize(shown[i] + 1, kNoEvent);
      places[g][shown[i]] = i;
    }
    now.groups.emplace_back(shown.size());
  }
  const auto change = [&](AllocationId id, base::Bytes by) {
    now.categories[static_cast<std::size_t>(work.categories.category[id])] += by;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::uint32_t group = groups[g].of_allocation[id];
      if (group >= places[g].size() || places[g][group] == kNoEvent) continue;
      now.groups[g][places[g][group]] += by;
    }
  };
  for (AllocationId id = 0; id < work.allocations.older; ++id) {
    if (!work.allocations.list[id].let_go_before) change(id, work.replay.block_size[id]);
  }

  std::vector<TimelinePoint> out;
  out.reserve(wanted.size());
  auto next = wanted.begin();
  const auto keep_before = [&](std::uint32_t event) {
    for (; next != wanted.end() && *next < event; ++next) {
      now.event = *next;
      now.bytes = curve.after[*next];
      out.push_back(now);
    }
  };
  for_each_change(work, [&](std::uint32_t event, AllocationId id, bool begins) {
    keep_before(event);
    change(id, begins ? work.replay.block_size[id] : -work.replay.block_size[id]);
  });
  keep_before(kNoEvent);
  return out;
}

namespace {

using base::Bytes;
using base::Null;

// The groups that had the most at the peak, the most first.
std::vector<std::uint32_t> top_groups(const HistoryWork& work, const Held& peak,
                                      std::span<const std::uint32_t> of_allocation,
                                      std::size_t top) {
  std::map<std::uint32_t, Bytes> sums;
  for (const AllocationId id : peak.allocations) {
    if (of_allocation[id] != Owners::kNobody) sums[of_allocation[id]] += work.replay.block_size[id];
  }
  std::vector<std::pair<Bytes, std::uint32_t>> order;
  order.reserve(sums.size());
  for (const auto& [group, bytes] : sums) order.emplace_back(-bytes, group);
  std::ranges::sort(order);
  std::vector<std::uint32_t> groups;
  for (std::size_t i = 0; i < std::min(top, order.size()); ++i) groups.push_back(order[i].second);
  return groups;
}

void add_timeline_parts_categories(base::Table& table, const TimelineDevice& of,
                                   std::span<const TimelinePoint> points) {
  const base::Cell floor = of.floor ? base::Cell(of.curve.after[*of.floor]) : Null{};
  for (const TimelinePoint& point : points) {
    const auto& c = point.categories;
    const std::string_view pass = pass_name(of.work, point.event);
    table.add({of.view.rank, of.view.label, of.work.history->device, point.event,
               time_of(of.work, point.event), step_number(of.work, point.event),
               pass.empty() ? base::Cell(Null{}) : pass, point.bytes, c[0], c[1], c[2], c[3], c[4],
               c[5], c[6], c[7], c[8], point.event < of.floor_from ? base::Cell(Null{}) : floor});
  }
}

void add_timeline_parts_stacks(base::Table& table, const TimelineDevice& of,
                               std::span<const TimelinePoint> points, const TimelineGroups& groups,
                               std::size_t which) {
  const std::int32_t device = of.work.history->device;
  std::vector<memory::StackId> stacks;
  stacks.reserve(groups.shown.size());
  for (const std::uint32_t group : groups.shown) {
    stacks.push_back(of.snapshot.texts.first_of(group));
  }
  const std::vector<std::string> texts = of.snapshot.texts.told_apart(stacks);
  for (std::size_t g = 0; g < groups.shown.size(); ++g) {
    const memory::StackId stack = stacks[g];
    const std::string where = texts[g].empty() ? "(no stack)" : texts[g];
    const std::string folded = of.snapshot.texts.folded(stack);
    for (const TimelinePoint& point : points) {
      table.add({of.view.rank, of.view.label, device, where, point.event,
                 time_of(of.work, point.event), point.groups[which][g],
                 folded.empty() ? base::Cell(Null{}) : base::Cell(folded)});
    }
  }
  for (const TimelinePoint& point : points) {
    table.add({of.view.rank, of.view.label, device, Null{}, point.event,
               time_of(of.work, point.event), point.rest(which), Null{}});
  }
}

void add_owners(base::Table& table, const TimelineDevice& of, std::span<const TimelinePoint> points,
                const TimelineGroups& groups, std::size_t which, const Owners& owners) {
  if (owners.from.empty()) return;
  const std::int32_t device = of.work.history->device;
  for (std::size_t g = 0; g < groups.shown.size(); ++g) {
    for (const TimelinePoint& point : points) {
      table.add({of.view.rank, of.view.label, device, owners.names[groups.shown[g]], point.event,
                 time_of(of.work, point.event), point.groups[which][g]});
    }
  }
  for (const TimelinePoint& point : points) {
    table.add({of.view.rank, of.view.label, device, Null{}, point.event,
               time_of(of.work, point.event), point.rest(which)});
  }
}

}  // namespace

TimelineAxis axis_of(const Options& options) {
  return options.text("axis") == "time" ? TimelineAxis::kTime : TimelineAxis::kEvents;
}

void add_points(std::vector<base::Table>& tables, const TimelineDevice& of,
                const Options& options) {
  const Held peak = held_at(of.work, of.curve.peak);
  const auto top = static_cast<std::size_t>(options.count("top"));
  const Owners modules = module_owners(of.run, of.view, of.work,
                                       static_cast<std::size_t>(options.count("module-depth")));
  const Owners annotations = annotation_owners(of.run, of.view, of.work);
  enum : std::size_t { kByStack, kByModule, kByAnnotation };
  std::vector<TimelineGroups> groups;
  const auto follow_most = [&](std::span<const std::uint32_t> of_allocation) {
    groups.push_back({of_allocation, top_groups(of.work, peak, of_allocation, top)});
  };
  follow_most(of.work.group);
  follow_most(modules.of_allocation);
  follow_most(annotations.of_allocation);
  const std::vector<TimelinePoint> points =
      timeline_points(of.work, of.curve, axis_of(options),
                      static_cast<std::size_t>(options.count("points")), groups);
  add_timeline_parts_categories(tables[kPointTable], of, points);
  add_timeline_parts_stacks(tables[kStackTable], of, points, groups[kByStack], kByStack);
  add_owners(tables[kModuleTable], of, points, groups[kByModule], kByModule, modules);
  add_owners(tables[kAnnotationTable], of, points, groups[kByAnnotation], kByAnnotation,
             annotations);
}

}  // namespace stepscope::analysis
