#include "analysis/memory/timeline_points.h"

namespace stepscope::analysis {
namespace {

// The event with the most of each stretch.
std::vector<std::uint32_t> highest_events(const HistoryWork& work, const Allocated& curve,
                                          TimelineAxis axis, std::size_t points) {
  __extension__ using Wide = __int128;
  const auto events = static_cast<std::uint32_t>(work.history->length());
  const auto times = work.history->time.span();
  const bool by_time =
      axis == TimelineAxis::kTime && events > 0 && times.front() != memory::kNoTime;
  const base::Nanos length = by_time ? times.back() - times.front() + 1 : 1;
  const auto stretch = [&](std::uint32_t event) -> std::uint64_t {
    if (points == 0) return event;
    if (!by_time) return std::uint64_t{event} * points / events;
    const base::Nanos at = times[event] - times.front();
    return static_cast<std::uint64_t>(static_cast<Wide>(at) * static_cast<Wide>(points) / length);
  };
  std::vector<std::uint32_t> found;
  std::uint64_t last = 0;
  for (std::uint32_t event = 0; event < events; ++event) {
    if (work.lives.of_event[event] == kNoLife && points == 0) continue;
    const std::uint64_t now = stretch(event);
    if (found.empty() || now != last) {
      found.push_back(event);
      last = now;
    } else if (curve.after[event] > curve.after[found.back()]) {
      found.back() = event;
    }
  }
  return found;
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
  const auto change = [&](LifeId id, base::Bytes by) {
    now.categories[static_cast<std::size_t>(work.categories.category[id])] += by;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::uint32_t group = groups[g].of_life[id];
      if (group >= places[g].size() || places[g][group] == kNoEvent) continue;
      now.groups[g][places[g][group]] += by;
    }
  };
  for (LifeId id = 0; id < work.lives.older; ++id) {
    if (!work.lives.list[id].let_go_before) change(id, work.followed.block_size[id]);
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
  for_each_change(work, [&](std::uint32_t event, LifeId id, bool begins) {
    keep_before(event);
    change(id, begins ? work.followed.block_size[id] : -work.followed.block_size[id]);
  });
  keep_before(kNoEvent);
  return out;
}

}  // namespace stepscope::analysis
