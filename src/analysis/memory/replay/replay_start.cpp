// Works out the state of the allocator before its recorded history begins.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/memory/replay/replay.h"

namespace stepscope::analysis {
namespace {

using memory::Action;
using memory::History;
using memory::Segment;

bool is_of(const Segment& segment, const History& history) {
  return segment.device == history.device && segment.is_host == history.is_host;
}

SegmentPlace replay_start_place_of(const Segment& segment) {
  return {segment.address, segment.total, segment.stream, segment.pool, !segment.is_large};
}

SegmentPlace replay_start_place_at(const LastSegments& last, const History& history,
                                   std::size_t event) {
  const base::Bytes size = history.size[event];
  return {history.address[event], size, history.stream[event], last.pool_of(history, event),
          size <= allocator::kSmallSegment};
}

void find_segments(const LastSegments& last, const History& history, ReplayStart& start) {
  std::set<std::uint64_t> open;  // segments taken in the history
  for (std::size_t i = 0; i < history.length(); ++i) {
    if (history.action[i] == Action::kSegmentAlloc) {
      open.insert(history.address[i]);
    } else if (history.action[i] == Action::kSegmentFree) {
      if (open.erase(history.address[i]) == 0)
        start.segments.push_back(replay_start_place_at(last, history, i));
    }
  }
  for (const Segment* segment : last.list()) {
    if (segment->is_expandable) continue;
    if (open.erase(segment->address) == 0)
      start.segments.push_back(replay_start_place_of(*segment));
  }
}

// Half-open stretches of addresses.
class ReplayStartStretches {
 public:
  void add(std::uint64_t from, std::uint64_t to) {
    remove(from, to);
    auto next = ends_.upper_bound(from);
    if (next != ends_.begin()) {
      if (auto before = std::prev(next); before->second == from) {
        from = before->first;
        ends_.erase(before);
      }
    }
    if (next != ends_.end() && next->first == to) {
      to = next->second;
      ends_.erase(next);
    }
    ends_[from] = to;
  }
  void remove(std::uint64_t from, std::uint64_t to) {
    auto at = ends_.upper_bound(from);
    if (at != ends_.begin()) --at;
    while (at != ends_.end() && at->first < to) {
      const auto [begin, end] = *at;
      if (end <= from) {
        ++at;
        continue;
      }
      at = ends_.erase(at);
      if (begin < from) ends_[begin] = from;
      if (end > to) ends_[to] = end;
    }
  }
  const std::map<std::uint64_t, std::uint64_t>& ends() const { return ends_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;
};

struct Reserve {
  SegmentPlace place;
  ReplayStartStretches mapped;
};

// One stretch of address space per stream, pool and size class: the allocator takes a second one
// only where the first is as large as the device, and the hole between them would do no harm.
void find_reserves(const LastSegments& last, const History& history, ReplayStart& start) {
  std::map<std::tuple<std::int64_t, std::uint16_t, bool>, Reserve> reserves;
  const auto cover = [&](const SegmentPlace& place) -> Reserve& {
    const auto [at, is_new] =
        reserves.try_emplace({place.stream, place.pool, place.is_small}, Reserve{place, {}});
    SegmentPlace& all = at->second.place;
    const std::uint64_t end = std::max(all.end(), place.end());
    all.address = std::min(all.address, place.address);
    all.size = static_cast<base::Bytes>(end - all.address);
    return at->second;
  };
  for (const Segment* segment : last.list()) {
    if (!segment->is_expandable) continue;
    cover(replay_start_place_of(*segment))
        .mapped.add(segment->address, replay_start_place_of(*segment).end());
  }
  for (std::size_t i = 0; i < history.length(); ++i) {
    if (history.action[i] == Action::kSegmentMap) cover(replay_start_place_at(last, history, i));
  }
  for (std::size_t i = history.length(); i-- > 0;) {
    const Action action = history.action[i];
    if (action != Action::kSegmentMap && action != Action::kSegmentUnmap) continue;
    SegmentPlace place = replay_start_place_at(last, history, i);
    if (action == Action::kSegmentUnmap) {
      // Several small pages may go at once: their size does not tell whose they are.
      place.is_small = place.size % allocator::kLargeSegment != 0;
      for (const auto& [key, reserve] : reserves) {
        if (reserve.place.stream == place.stream && reserve.place.pool == place.pool &&
            reserve.place.address <= place.address && place.end() <= reserve.place.end()) {
          place.is_small = reserve.place.is_small;
        }
      }
      cover(place).mapped.add(place.address, place.end());
    } else {
      cover(place).mapped.remove(place.address, place.end());
    }
  }
  for (const auto& [key, reserve] : reserves) {
    start.reserves.push_back(reserve.place);
    for (const auto& [from, to] : reserve.mapped.ends()) {
      SegmentPlace part = reserve.place;
      part.address = from;
      part.size = static_cast<base::Bytes>(to - from);
      start.mapped.push_back(part);
    }
  }
}

}  // namespace

LastSegments::LastSegments(const memory::Snapshot& snapshot, const History& history) {
  for (const Segment& segment : snapshot.segments) {
    if (is_of(segment, history)) list_.push_back(&segment);
  }
  std::ranges::stable_sort(list_, {}, &Segment::address);
  for (std::size_t i = 0; i < history.length(); ++i) {
    if (history.action[i] == Action::kSegmentAlloc) taken_at_[history.address[i]] = i;
  }
}

const Segment* LastSegments::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(list_, address, {}, &Segment::address);
  if (after == list_.begin()) return nullptr;
  const Segment* segment = *std::prev(after);
  return address < replay_start_place_of(*segment).end() ? segment : nullptr;
}

std::uint16_t LastSegments::pool_of(const History& history, std::size_t event) const {
  if (history.pool[event] != memory::kUnknownPool) return history.pool[event];
  const Segment* segment = at(history.address[event]);
  if (segment == nullptr || segment->pool == memory::kUnknownPool) return 0;
  // The driver gives out addresses again: before, another segment may have been there.
  const auto taken = taken_at_.find(segment->address);
  return taken == taken_at_.end() || taken->second <= event ? segment->pool : 0;
}

ReplayStart start_of(const LastSegments& last, const History& history) {
  ReplayStart start;
  find_segments(last, history, start);
  find_reserves(last, history, start);
  std::ranges::sort(start.segments, {}, &SegmentPlace::address);
  std::ranges::sort(start.mapped, {}, &SegmentPlace::address);
  return start;
}

}  // namespace stepscope::analysis
