// Serves the recorded requests again by torch's rules, without the recorded addresses.
#include "analysis/memory/simulated/simulated.h"

#include <algorithm>
#include <set>

namespace stepscope::analysis {

using memory::Action;
using memory::History;

bool takes_memory(Action action) {
  return action == Action::kSegmentAlloc || action == Action::kSegmentMap;
}
bool returns_memory(Action action) {
  return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
}

std::size_t returns_end(const History& history, std::size_t first) {
  std::size_t end = first;
  while (end < history.length() && returns_memory(history.action[end])) ++end;
  return end;
}

bool makes_room(const History& history, std::size_t first, std::size_t end) {
  if (end >= history.length()) return false;
  if (history.action[end] == Action::kOom) return true;
  return takes_memory(history.action[end]) && history.stack[first] != memory::kNoStack &&
         history.stack[first] == history.stack[end];
}

Requests requests_of(const History& history, const Allocations& allocations, const Replay& replay) {
  Requests out{&history, &allocations, &replay, {}, {}};
  using Kind = Request::Kind;
  const Action end_of_life =
      allocations.let_go_is_free ? Action::kFreeRequested : Action::kFreeCompleted;
  const auto add = [&](Kind kind, std::size_t of) {
    out.list.push_back({kind, static_cast<std::uint32_t>(of)});
  };
  out.list.reserve(history.length());
  for (std::size_t i = 0; i < history.length(); ++i) {
    const Action action = history.action[i];
    if (action == Action::kAlloc) {
      add(Kind::kTake, allocations.of_event[i]);
    } else if (action == end_of_life) {
      if (allocations.of_event[i] != kNoAllocation) add(Kind::kGiveBack, allocations.of_event[i]);
    } else if (returns_memory(action)) {
      add(Kind::kRelease, i);
      i = returns_end(history, i) - 1;
    } else if (action == Action::kOom) {
      add(Kind::kFail, i);
    }
  }
  out.requested.reserve(allocations.list.size());
  for (const Allocation& life : allocations.list) out.requested.push_back(life.requested);
  return out;
}

using allocator::Bin;
using allocator::Rules;
using base::Bytes;
using memory::Action;
using memory::History;

Bytes driver_free_at(const History& history, std::size_t oom) {
  return static_cast<Bytes>(
      std::min(history.address[oom], static_cast<std::uint64_t>(allocator::kNoLimit / 2)));
}

Bytes taken_for(const Rules& rules, Bytes asked) {
  if (!rules.expandable_segments) return rules.segment_for(asked);
  const Bytes page = rules.page(rules.is_small(asked));
  return (asked + page - 1) / page * page;
}

std::optional<Limit> limit_seen(const History& history, const Replay& replay) {
  std::optional<Bytes> limit;
  bool is_own = false;
  const auto refused = [&](Bytes at_most) { limit = std::min(limit.value_or(at_most), at_most); };
  // A collector makes room long before the driver refuses.
  const bool collects = replay.rules.collect_above > 0;
  Bytes reserved = replay.start.reserved;
  for (std::size_t i = 0; i < history.length(); ++i) {
    const Action action = history.action[i];
    if (takes_memory(action)) {
      reserved += history.size[i];
    } else if (returns_memory(action)) {
      const std::size_t end = returns_end(history, i);
      if (!collects && makes_room(history, i, end) && takes_memory(history.action[end])) {
        refused(reserved + history.size[end] - 1);
      }
      for (; i < end; ++i) reserved -= history.size[i];
      --i;
    } else if (action == Action::kOom) {
      // What the driver has free is not the limit where the process may use only a share of it.
      const Bytes driver_free = driver_free_at(history, i);
      const Bytes rounded = replay.rules.rounded(history.size[i]);
      is_own = is_own || driver_free >= taken_for(replay.rules, rounded);
      refused(reserved + std::min(driver_free, replay.rules.segment_for(rounded) - 1));
    }
  }
  if (!limit) return std::nullopt;
  const Bytes had = replay.peak_reserved.reserved;
  return Limit{had, std::max(*limit, had), is_own};
}

Simulated simulate(const Requests& requests, const Rules& rules, std::optional<Bytes> limit,
                   std::span<const Bytes> other_split_sizes) {
  const History& history = *requests.history;
  RequestReplay replay(requests, rules, limit);
  allocator::Caching& caching = replay.caching();
  caching.watch_split_sizes(other_split_sizes);
  Simulated out;
  replay.begin_afresh();
  for (const Request request : requests.list) {
    switch (request.kind) {
      case Request::Kind::kTake:
        out.failed += replay.take(request.of) ? 0 : 1;
        break;
      case Request::Kind::kGiveBack:
        replay.give_back(request.of);
        break;
      case Request::Kind::kRelease: {
        const std::size_t end = returns_end(history, request.of);
        if (!limit || !makes_room(history, request.of, end)) replay.release(request.of, end);
        break;
      }
      case Request::Kind::kFail: {
        const std::uint16_t pool = history.pool[request.of];
        const Bytes size = history.size[request.of];
        const Bin bin{history.stream[request.of],
                      pool == memory::kUnknownPool ? std::uint16_t{0} : pool,
                      rules.is_small(rules.rounded(size))};
        out.ooms_served += caching.would_fit(caching.bin(bin), size) ? 1 : 0;
        break;
      }
    }
  }
  using allocator::Stat;
  const allocator::Statistics& stats = caching.statistics();
  out.peak_reserved = stats(Stat::kReservedBytes).peak;
  out.end_reserved = stats(Stat::kReservedBytes).current;
  out.peak_active = stats(Stat::kActiveBytes).peak;
  out.peak_segments = stats(Stat::kSegment).peak;
  out.driver_allocs = caching.driver_allocs;
  out.driver_frees = caching.driver_frees;
  out.retries = caching.retries;
  out.same_split_sizes = caching.same_split_sizes();
  return out;
}

Bytes least_possible(const Requests& requests, const Rules& rules) {
  const std::vector<Allocation>& allocations = requests.allocations->list;
  Bytes now = 0;
  for (std::size_t id = 0; id < requests.allocations->older; ++id) {
    now += rules.rounded(allocations[id].requested);
  }
  Bytes most = now;
  for (std::size_t i = 0; i < requests.history->length(); ++i) {
    const AllocationId life = requests.allocations->of_event[i];
    if (life == kNoAllocation) continue;
    if (allocations[life].alloc == i) now += rules.rounded(allocations[life].requested);
    if (allocations[life].freed == i) now -= rules.rounded(allocations[life].requested);
    most = std::max(most, now);
  }
  return most;
}

using allocator::Bin;

RequestReplay::RequestReplay(const Requests& requests, const allocator::Rules& rules,
                             std::optional<base::Bytes> limit)
    : requests_(requests),
      rules_(rules),
      caching_(rules, limit),
      block_of_(requests.allocations->list.size(), allocator::kNoBlock) {
  for (const Bin& bin : requests.replay->bins) {
    for (const bool small : {false, true}) {
      bins_.push_back(caching_.bin({bin.stream, bin.pool, small}));
    }
  }
}

void RequestReplay::begin_as_recorded() {
  const ReplayStart& before = requests_.replay->before;
  const auto bin = [&](const SegmentPlace& place) {
    return caching_.bin({place.stream, place.pool, place.is_small});
  };
  for (const SegmentPlace& place : before.segments) {
    caching_.begin_segment(place.address, place.size, bin(place));
  }
  for (const SegmentPlace& place : before.reserves) {
    const bool had_memory = std::ranges::any_of(
        before.mapped, [&](const SegmentPlace& part) { return bin(part) == bin(place); });
    if (had_memory) caching_.begin_reserve(place.address, bin(place));
  }
  for (const SegmentPlace& place : before.mapped) {
    caching_.begin_mapped(place.address, place.size, bin(place));
  }
  for (AllocationId id = 0; id < requests_.allocations->older; ++id) {
    const Allocation& life = requests_.allocations->list[id];
    block_of_[id] =
        caching_.begin_block(life.address, requests_.replay->block_size[id], life.requested, id);
  }
  caching_.begin_here();
}

void RequestReplay::begin_afresh() {
  for (AllocationId id = 0; id < requests_.allocations->older; ++id) take(id);
  caching_.begin_here();
  caching_.driver_allocs = caching_.driver_frees = caching_.retries = 0;
}

// Pools of CUDA graphs are returned only once their graphs are gone, which the record shows.
void RequestReplay::release(std::size_t first, std::size_t end) {
  const memory::History& history = *requests_.history;
  std::set<std::uint16_t> pools = {0};
  for (std::size_t i = first; i < end; ++i) {
    if (history.pool[i] != memory::kUnknownPool) pools.insert(history.pool[i]);
  }
  for (const std::uint16_t pool : pools) caching_.release_cached(pool);
}

}  // namespace stepscope::analysis
