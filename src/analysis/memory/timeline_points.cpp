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
                                           std::span<const std::uint32_t> groups) {
  const std::vector<std::uint32_t> wanted = highest_events(work, curve, axis, points);
  std::vector<std::uint32_t> place;  // by group of stacks: into `groups`
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    if (groups[i] >= place.size()) place.resize(groups[i] + 1, kNoEvent);
    place[groups[i]] = i;
  }
  TimelinePoint now;
  now.bytes = curve.before;
  now.groups.resize(groups.size());
  const auto change = [&](LifeId id, base::Bytes by) {
    now.categories[static_cast<std::size_t>(work.categories.category[id])] += by;
    const std::uint32_t group = work.group[id];
    if (group < place.size() && place[group] != kNoEvent) now.groups[place[group]] += by;
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
