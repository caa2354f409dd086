#include "analysis/memory/simulated/simulated_replay.h"

#include <algorithm>
#include <set>

namespace stepscope::analysis {

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
