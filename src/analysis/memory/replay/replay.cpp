// Replays the recorded history of one allocator by torch's rules.
#include "analysis/memory/replay/replay.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "analysis/memory/allocator/blocks.h"
#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

// The states of an allocator over its history, reduced to a few per stretch of events: those in
// which something was largest or smallest, so that no peak is lost.

class MomentKeeper {
 public:
  MomentKeeper(std::size_t events, std::size_t stretches);
  void add(const ReplayMoment& moment);
  // In the order of events, each once.
  std::vector<ReplayMoment> take();

 private:
  void close();

  std::size_t width_;
  std::size_t stretch_ = 0;
  bool is_open_ = false;
  enum Extreme : std::uint8_t {
    kMostAllocated,
    kLeastAllocated,
    kMostReserved,
    kMostUnused,
    kLeastFreeBlock,
    kLast,
    kExtremes
  };
  std::array<ReplayMoment, kExtremes> extremes_;
  std::vector<ReplayMoment> kept_;
};

MomentKeeper::MomentKeeper(std::size_t events, std::size_t stretches)
    : width_(std::max<std::size_t>(
          1, (events + stretches - 1) / std::max<std::size_t>(1, stretches))) {}

void MomentKeeper::add(const ReplayMoment& moment) {
  if (const std::size_t stretch = moment.event / width_; !is_open_ || stretch != stretch_) {
    close();
    stretch_ = stretch;
    is_open_ = true;
    extremes_.fill(moment);
    return;
  }
  const auto keep = [&](Extreme which, bool better) {
    if (better) extremes_[which] = moment;
  };
  keep(kMostAllocated, moment.allocated > extremes_[kMostAllocated].allocated);
  keep(kLeastAllocated, moment.allocated < extremes_[kLeastAllocated].allocated);
  keep(kMostReserved, moment.reserved > extremes_[kMostReserved].reserved);
  keep(kMostUnused, moment.unused() > extremes_[kMostUnused].unused());
  keep(kLeastFreeBlock, moment.largest_free < extremes_[kLeastFreeBlock].largest_free);
  keep(kLast, true);
}

void MomentKeeper::close() {
  if (!is_open_) return;
  std::ranges::sort(extremes_, {}, &ReplayMoment::event);
  for (const ReplayMoment& moment : extremes_) {
    if (kept_.empty() || kept_.back().event != moment.event) kept_.push_back(moment);
  }
  is_open_ = false;
}

std::vector<ReplayMoment> MomentKeeper::take() {
  close();
  return std::move(kept_);
}

// The state of an allocator while its history is followed: its blocks, found by address.

using allocator::Block;
using allocator::BlockId;
using allocator::kNoBlock;
using allocator::Use;

// Where blocks begin, and which free one is the largest.
struct BlockStarts {
  struct Free {
    base::Bytes size = 0;
    BlockId id = kNoBlock;
    auto operator<=>(const Free&) const = default;
  };
  base::NumberMap by_address;
  std::vector<Free> free;    // a heap; what is no longer free stays until it comes up
  std::size_t free_now = 0;  //

  void born(BlockId id, const Block& block) { by_address.set(block.address, id); }
  void died(BlockId id, const Block& block) {
    if (by_address.find(block.address) == id) by_address.erase(block.address);
  }
  void offered(BlockId id, const Block& block) {
    if (block.use != Use::kFree) return;
    free.push_back({block.size, id});
    std::ranges::push_heap(free);
    ++free_now;
  }
  void withdrawn(BlockId, const Block& block) {
    if (block.use == Use::kFree) --free_now;
  }
};

class ReplayState {
 public:
  ReplayState(const allocator::Rules& rules, std::vector<Bin>& bins)
      : bins_(bins), blocks_(rules, starts_) {}
  ReplayState(const ReplayState&) = delete;
  ReplayState& operator=(const ReplayState&) = delete;

  allocator::Blocks<BlockStarts>& blocks() { return blocks_; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }
  std::uint32_t bin(const Bin& bin);

  void add_segment(const SegmentPlace& place);
  void add_reserve(const SegmentPlace& place);
  // False: no such address space.
  bool map(std::uint64_t address, base::Bytes size);
  // The first block of the segment that begins here.
  BlockId segment_at(std::uint64_t address) const;
  void remove_segment(std::uint64_t address);

  BlockId beginning_at(std::uint64_t address) const;
  // The block of this use that holds the address; walks its segment.
  BlockId containing(std::uint64_t address, Use use) const;

  ReplayMoment moment(std::uint32_t event);
  // What is free where, for a request of this bin.
  ReplayOom free_for(const Bin& asked, std::uint32_t event);
  // How many blocks differ from those of the snapshot.
  std::uint64_t differences(const memory::Snapshot& snapshot, const LastSegments& last) const;

 private:
  base::Bytes largest_free();
  void add_free_of(BlockId head, const Bin& asked, ReplayOom& oom) const;

  std::vector<Bin>& bins_;
  BlockStarts starts_;
  allocator::Blocks<BlockStarts> blocks_;
  std::map<std::uint64_t, BlockId> heads_;  // of the segments, by address
  std::map<Bin, std::uint32_t> bin_numbers_;
};

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

using allocator::Stat;
using base::Bytes;
using memory::Action;
using memory::History;

constexpr std::size_t kMostOoms = 1000;       // whose free memory is looked at
constexpr std::uint64_t kMostDoubts = 10000;  // then the rest is not followed: each costs a search

class Follower {
 public:
  Follower(const memory::Snapshot& snapshot, const History& history, const Allocations& allocations,
           Replay& out)
      : snapshot_(snapshot),
        history_(history),
        allocations_(allocations),
        last_(snapshot, history),
        out_(out),
        state_(out.rules, out.bins),
        block_of_(allocations.list.size(), kNoBlock) {}

  void run(std::size_t stretches) {
    out_.block_size.assign(allocations_.list.size(), 0);
    out_.bin_of.assign(allocations_.list.size(), 0);
    out_.before = start_of(last_, history_);
    lay_out_start();
    out_.start = state_.moment(0);
    out_.peak_reserved = out_.peak_allocated = out_.peak_unused = out_.start;
    MomentKeeper keeper(history_.length(), stretches);
    for (std::size_t i = 0; i < history_.length(); ++i) {
      event_ = static_cast<std::uint32_t>(i);
      if (out_.doubts.all() > kMostDoubts) break;
      if (!apply(i)) continue;
      const ReplayMoment now = state_.moment(event_);
      if (now.reserved > out_.peak_reserved.reserved) out_.peak_reserved = now;
      if (now.allocated > out_.peak_allocated.allocated) out_.peak_allocated = now;
      if (now.unused() > out_.peak_unused.unused()) out_.peak_unused = now;
      keeper.add(now);
    }
    out_.moments = keeper.take();
    out_.end = state_.moment(event_);
    out_.statistics = state_.blocks().statistics();
    if (allocations_.has_blocks) out_.doubts.at_the_end = state_.differences(snapshot_, last_);
  }

 private:
  void doubt(std::uint64_t& which) {
    ++which;
    out_.doubts.first_event = std::min(out_.doubts.first_event, event_);
  }
  bool is_in_use(BlockId id) const {
    return state_[id].use == Use::kInUse || state_[id].use == Use::kPending;
  }
  bool is_size_known(const Allocation& life) const { return life.block < snapshot_.blocks.size(); }

  void lay_out_start() {
    for (const SegmentPlace& place : out_.before.segments) state_.add_segment(place);
    for (const SegmentPlace& place : out_.before.reserves) state_.add_reserve(place);
    for (const SegmentPlace& place : out_.before.mapped) state_.map(place.address, place.size);
    for (AllocationId id = 0; id < allocations_.older; ++id) {
      const Allocation& life = allocations_.list[id];
      const bool known = is_size_known(life);
      if (!known) ++out_.assumed_sizes;
      const Bytes size =
          known ? snapshot_.blocks[life.block].size : out_.rules.rounded(life.requested);
      const BlockId block = free_from(life.address, size, id > 0 ? block_of_[id - 1] : kNoBlock);
      if (block != kNoBlock && state_[block].size > size) state_.blocks().cut_at(block, size);
      place(id, block, size);
      const bool waits_at_end =
          known && snapshot_.blocks[life.block].state == memory::BlockState::kPendingFree;
      const bool was_let_go =
          life.let_go == kNoEvent &&
          (life.is_alive_at_end() ? waits_at_end : !allocations_.let_go_is_free);
      if (was_let_go) state_.blocks().request_free(block_of_[id]);
    }
    state_.blocks().begin_here();
    out_.is_whole =
        allocations_.older == 0 && state_.blocks().statistics()(Stat::kReservedBytes).current == 0;
  }

  // The free block that begins here, cut out of a larger one if need be; kNoBlock: there is none.
  // By rising addresses: what is free after the one before is looked at first.
  BlockId free_from(std::uint64_t address, Bytes size, BlockId before) {
    BlockId id = state_.beginning_at(address);
    if (id == kNoBlock || state_[id].use != Use::kFree) {
      id = before == kNoBlock ? kNoBlock : state_[before].next;
      if (id == kNoBlock || state_[id].use != Use::kFree || state_[id].address > address ||
          state_[id].end() <= address) {
        id = state_.containing(address, Use::kFree);
      }
    }
    if (id == kNoBlock) return kNoBlock;
    if (state_[id].address < address) {
      id = state_.blocks().cut_at(id, static_cast<Bytes>(address - state_[id].address));
    }
    return state_[id].size >= size ? id : kNoBlock;
  }

  void place(AllocationId life, BlockId block, Bytes rounded) {
    const Allocation& of = allocations_.list[life];
    const bool small = out_.rules.is_small(out_.rules.rounded(of.requested));
    if (block == kNoBlock) {
      doubt(out_.doubts.outside_segments);
      block = state_.blocks().add_unbacked(of.address, rounded, small,
                                           state_.bin({of.stream, 0, small}));
    }
    state_.blocks().take(block, of.requested, rounded, life);
    block_of_[life] = block;
    out_.block_size[life] = state_[block].size;
    Bin bin{of.stream, out_.bins[state_[block].bin].pool, small};
    if (of.pool != memory::kUnknownPool) bin.pool = of.pool;
    out_.bin_of[life] = state_.bin(bin);
  }

  // Whether the state may have changed.
  bool apply(std::size_t i) {
    switch (history_.action[i]) {
      case Action::kAlloc:
        allocate(i);
        return true;
      case Action::kFreeRequested:
        let_go(allocations_.of_event[i]);
        return true;
      case Action::kFreeCompleted:
        complete(allocations_.of_event[i]);
        return true;
      case Action::kSegmentAlloc:
        state_.add_segment({history_.address[i], history_.size[i], history_.stream[i],
                            last_.pool_of(history_, i),
                            history_.size[i] <= allocator::kSmallSegment});
        return true;
      case Action::kSegmentFree:
        return_segment(i);
        return true;
      case Action::kSegmentMap:
        if (!state_.map(history_.address[i], history_.size[i])) {
          doubt(out_.doubts.unknown_segment);
        }
        return true;
      case Action::kSegmentUnmap:
        unmap(i);
        return true;
      case Action::kOom:
        out_of_memory(i);
        return false;
      default:
        return false;
    }
  }

  void allocate(std::size_t i) {
    const std::uint64_t address = history_.address[i];
    const Bytes rounded = out_.rules.rounded(history_.size[i]);
    BlockId id = state_.beginning_at(address);
    if (id != kNoBlock && is_in_use(id)) {
      doubt(out_.doubts.not_at_a_free_block);
      free_block(id);
      id = state_.beginning_at(address);
    }
    if (id == kNoBlock || state_[id].use != Use::kFree) {
      id = state_.containing(address, Use::kFree);
      if (id != kNoBlock && state_[id].address < address) id = begin_block_at(id, address);
    }
    if (id != kNoBlock && state_[id].size < rounded) doubt(out_.doubts.block_too_small);
    place(allocations_.of_event[i], id, rounded);
  }

  // An allocation in the middle of what looks free: the block before reached up to it, if its size
  // was only assumed.
  BlockId begin_block_at(BlockId id, std::uint64_t address) {
    const BlockId before = state_[id].previous;
    const BlockId found =
        state_.blocks().cut_at(id, static_cast<Bytes>(address - state_[id].address));
    const bool assumed = before != kNoBlock && !state_[id].small && is_in_use(before) &&
                         state_[before].holder < allocations_.older &&
                         !is_size_known(allocations_.list[state_[before].holder]) &&
                         (state_[id].size <= allocator::kLargestSmall ||
                          state_[before].size >= out_.rules.max_split_size);
    if (assumed) {
      state_.blocks().grow_over_next(before);
      out_.block_size[state_[before].holder] = state_[before].size;
    } else {
      doubt(out_.doubts.not_at_a_free_block);
    }
    return found;
  }

  void let_go(AllocationId life) {
    if (life == kNoAllocation || block_of_[life] == kNoBlock) return;
    if (state_[block_of_[life]].use == Use::kInUse) state_.blocks().request_free(block_of_[life]);
    if (allocations_.let_go_is_free) complete(life);
  }

  void complete(AllocationId life) {
    if (life != kNoAllocation && block_of_[life] != kNoBlock) free_block(block_of_[life]);
  }

  void free_block(BlockId id) {
    block_of_[state_[id].holder] = kNoBlock;
    const bool backed = state_[id].backed;
    id = state_.blocks().complete_free(id);
    if (!backed) state_.blocks().remove_unbacked(id);
  }

  void return_segment(std::size_t i) {
    const BlockId head = state_.segment_at(history_.address[i]);
    if (head == kNoBlock || state_[head].expandable) return doubt(out_.doubts.unknown_segment);
    if (state_[head].use != Use::kFree || state_[head].has_neighbours()) {
      doubt(out_.doubts.still_in_use);
      // Freed from the left, everything so far is one free block that begins where the head does.
      if (is_in_use(head)) free_block(head);
      while (state_[head].next != kNoBlock) free_block(state_[head].next);
    }
    if (state_[head].size != history_.size[i]) doubt(out_.doubts.unknown_segment);
    state_.remove_segment(history_.address[i]);
  }

  void unmap(std::size_t i) {
    const BlockId id = state_.containing(history_.address[i], Use::kFree);
    const auto end = history_.address[i] + static_cast<std::uint64_t>(history_.size[i]);
    if (id == kNoBlock || !state_[id].expandable) return doubt(out_.doubts.unknown_segment);
    if (state_[id].end() < end) return doubt(out_.doubts.still_in_use);
    state_.blocks().unmap(id, history_.address[i], history_.size[i]);
  }

  void out_of_memory(std::size_t i) {
    if (out_.ooms.size() >= kMostOoms) {
      out_.ooms.emplace_back().at = state_.moment(event_);
      return;
    }
    const std::uint16_t pool =
        history_.pool[i] == memory::kUnknownPool ? std::uint16_t{0} : history_.pool[i];
    const bool small = out_.rules.is_small(out_.rules.rounded(history_.size[i]));
    out_.ooms.push_back(state_.free_for({history_.stream[i], pool, small}, event_));
  }

  const memory::Snapshot& snapshot_;
  const History& history_;
  const Allocations& allocations_;
  LastSegments last_;
  Replay& out_;
  ReplayState state_;
  std::vector<BlockId> block_of_;  // by life
  std::uint32_t event_ = 0;
};

}  // namespace

Replay follow(const memory::Snapshot& snapshot, const History& history,
              const Allocations& allocations, std::size_t stretches) {
  Replay out;
  out.rules = allocator::rules_of(snapshot.settings);
  Follower(snapshot, history, allocations, out).run(stretches);
  return out;
}

}  // namespace stepscope::analysis
