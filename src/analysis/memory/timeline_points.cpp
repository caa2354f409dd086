#include "analysis/memory/timeline_points.h"

#include <algorithm>

#include "analysis/memory/history/stretches.h"

namespace stepscope::analysis {
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

}  // namespace stepscope::analysis
