#include "analysis/memory/timeline_parts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/memory/history/held.h"
#include "analysis/memory/owners/allocation_owners.h"
#include "analysis/memory/timeline_tables.h"

namespace stepscope::analysis {
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
