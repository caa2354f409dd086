#include "analysis/memory/replay/replay_state.h"

#include <algorithm>
#include <functional>

namespace stepscope::analysis {

using allocator::Stat;
using base::Bytes;

std::uint32_t ReplayState::bin(const Bin& bin) {
  const auto [at, is_new] = bin_numbers_.try_emplace(bin, static_cast<std::uint32_t>(bins_.size()));
  if (is_new) bins_.push_back(bin);
  return at->second;
}

void ReplayState::add_segment(const SegmentPlace& place) {
  heads_[place.address] = blocks_.add_segment(place.address, place.size, place.is_small,
                                              bin({place.stream, place.pool, place.is_small}));
}

void ReplayState::add_reserve(const SegmentPlace& place) {
  heads_[place.address] = blocks_.reserve(place.address, place.size, place.is_small,
                                          bin({place.stream, place.pool, place.is_small}));
}

bool ReplayState::map(std::uint64_t address, Bytes size) {
  BlockId id = beginning_at(address);
  if (id == kNoBlock || blocks_[id].use != Use::kUnmapped) {
    id = containing(address, Use::kUnmapped);
    if (id == kNoBlock) return false;
    if (blocks_[id].address < address) {
      id = blocks_.cut_at(id, static_cast<Bytes>(address - blocks_[id].address));
    }
  }
  if (blocks_[id].size < size) return false;
  blocks_.map(id, size);
  return true;
}

BlockId ReplayState::segment_at(std::uint64_t address) const {
  const auto head = heads_.find(address);
  return head == heads_.end() ? kNoBlock : head->second;
}

void ReplayState::remove_segment(std::uint64_t address) {
  blocks_.remove_segment(segment_at(address));
  heads_.erase(address);
}

BlockId ReplayState::beginning_at(std::uint64_t address) const {
  static_assert(kNoBlock == base::NumberMap::kNone);
  return starts_.by_address.find(address);
}

BlockId ReplayState::containing(std::uint64_t address, Use use) const {
  for (auto head = heads_.upper_bound(address); head != heads_.begin();) {
    --head;
    for (BlockId id = head->second; id != kNoBlock; id = blocks_[id].next) {
      if (blocks_[id].address > address) break;
      if (address < blocks_[id].end() && blocks_[id].use == use) return id;
    }
    // Address space of expandable segments may enclose that of others.
    if (!blocks_[head->second].expandable) break;
  }
  return kNoBlock;
}

Bytes ReplayState::largest_free() {
  std::vector<BlockStarts::Free>& free = starts_.free;
  const auto is_free = [&](const BlockStarts::Free& one) {
    return blocks_[one.id].use == Use::kFree && blocks_[one.id].size == one.size;
  };
  // Blocks that come and go below the largest would pile up.
  if (free.size() > 8 * starts_.free_now + 4096) {
    std::erase_if(free, std::not_fn(is_free));
    std::ranges::sort(free);
    free.erase(std::ranges::unique(free).begin(), free.end());
    std::ranges::make_heap(free);
  }
  while (!free.empty() && !is_free(free.front())) {
    std::ranges::pop_heap(free);
    free.pop_back();
  }
  return free.empty() ? 0 : free.front().size;
}

ReplayMoment ReplayState::moment(std::uint32_t event) {
  const allocator::Statistics& now = blocks_.statistics();
  return {.event = event,
          .segments = static_cast<std::uint32_t>(now(Stat::kSegment).current),
          .reserved = now(Stat::kReservedBytes).current,
          .active = now(Stat::kActiveBytes).current,
          .allocated = now(Stat::kAllocatedBytes).current,
          .requested = now(Stat::kRequestedBytes).current,
          .inactive_split = now(Stat::kInactiveSplitBytes).current,
          .largest_free = largest_free()};
}

ReplayOom ReplayState::free_for(const Bin& asked, std::uint32_t event) {
  ReplayOom oom;
  oom.at = moment(event);
  for (const auto& [address, head] : heads_) add_free_of(head, asked, oom);
  std::ranges::stable_sort(oom.segments, std::ranges::greater{}, &SegmentFree::free);
  return oom;
}

void ReplayState::add_free_of(BlockId head, const Bin& asked, ReplayOom& oom) const {
  const Bin& of = bins_[blocks_[head].bin];
  SegmentFree segment{.address = blocks_[head].address,
                      .stream = of.stream,
                      .pool = of.pool,
                      .is_small = of.is_small,
                      .is_expandable = blocks_[head].expandable};
  for (BlockId id = head; id != kNoBlock; id = blocks_[id].next) {
    if (blocks_[id].use == Use::kUnmapped) continue;
    segment.size += blocks_[id].size;
    if (blocks_[id].use != Use::kFree) continue;
    segment.free += blocks_[id].size;
    segment.largest_free = std::max(segment.largest_free, blocks_[id].size);
  }
  if (of == asked) {
    oom.usable += segment.free;
    oom.largest_usable = std::max(oom.largest_usable, segment.largest_free);
  } else {
    oom.elsewhere += segment.free;
  }
  if (segment.free > 0) oom.segments.push_back(segment);
}

std::uint64_t ReplayState::differences(const memory::Snapshot& snapshot,
                                       const LastSegments& last) const {
  const auto use_of = [](memory::BlockState state) {
    if (state == memory::BlockState::kActive) return Use::kInUse;
    return state == memory::BlockState::kPendingFree ? Use::kPending : Use::kFree;
  };
  std::uint64_t expected = 0, found = 0, present = 0;
  for (const memory::Segment* segment : last.list()) {
    for (const memory::Block& block : snapshot.blocks_of(*segment)) {
      ++expected;
      const BlockId id = beginning_at(block.address);
      if (id != kNoBlock && blocks_[id].size == block.size &&
          blocks_[id].use == use_of(block.state)) {
        ++found;
      }
    }
  }
  for (const Block& block : blocks_.all()) {
    if (block.use != Use::kGone && block.use != Use::kUnmapped) ++present;
  }
  return (expected - found) + (present - std::min(present, found));
}

}  // namespace stepscope::analysis
