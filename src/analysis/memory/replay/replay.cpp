#include "analysis/memory/replay/replay.h"

#include <algorithm>

#include "analysis/memory/replay/replay_moments.h"
#include "analysis/memory/replay/replay_state.h"

namespace stepscope::analysis {
namespace {

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
  // By rising addresses: what is free behind the one before is looked at first.
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
