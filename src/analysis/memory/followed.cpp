#include "analysis/memory/followed.h"

#include <algorithm>
#include <map>

#include "analysis/memory/allocator/address_index.h"
#include "analysis/memory/allocator/blocks.h"
#include "analysis/memory/followed_moments.h"

namespace stepscope::analysis {
namespace {

using allocator::AddressIndex;
using allocator::Block;
using allocator::BlockId;
using allocator::Blocks;
using allocator::kNoBlock;
using allocator::Stat;
using allocator::Use;
using base::Bytes;
using memory::Action;
using memory::History;

constexpr std::size_t kMostOoms = 1000;       // whose free memory is looked at
constexpr std::uint64_t kMostDoubts = 10000;  // then the rest is not followed: each costs a search

// Where blocks begin, and how large the free ones are.
struct Starts {
  AddressIndex by_address;
  std::map<Bytes, std::uint32_t> free_sizes;

  void born(BlockId id, const Block& block) { by_address.set(block.address, id); }
  void died(BlockId id, const Block& block) {
    if (by_address.find(block.address) == id) by_address.erase(block.address);
  }
  void offered(BlockId, const Block& block) {
    if (block.use == Use::kFree) ++free_sizes[block.size];
  }
  void withdrawn(BlockId, const Block& block) {
    if (block.use != Use::kFree) return;
    const auto at = free_sizes.find(block.size);
    if (--at->second == 0) free_sizes.erase(at);
  }
};

class Follower {
 public:
  Follower(const memory::Snapshot& snapshot, const History& history, const Lives& lives,
           Followed& out)
      : snapshot_(snapshot),
        history_(history),
        lives_(lives),
        last_(snapshot, history),
        out_(out),
        blocks_(out.rules, starts_) {}

  void run(std::size_t stretches) {
    out_.block_size.assign(lives_.list.size(), 0);
    out_.bin_of.assign(lives_.list.size(), 0);
    out_.before = start_of(last_, history_);
    lay_out_start();
    out_.start = moment(0);
    out_.peak_reserved = out_.peak_allocated = out_.peak_unused = out_.start;
    MomentKeeper keeper(history_.length(), stretches);
    for (std::size_t i = 0; i < history_.length(); ++i) {
      event_ = static_cast<std::uint32_t>(i);
      if (out_.doubts.all() > kMostDoubts) break;
      if (!apply(i)) continue;
      const FollowedMoment now = moment(event_);
      if (now.reserved > out_.peak_reserved.reserved) out_.peak_reserved = now;
      if (now.allocated > out_.peak_allocated.allocated) out_.peak_allocated = now;
      if (now.unused() > out_.peak_unused.unused()) out_.peak_unused = now;
      keeper.add(now);
    }
    out_.moments = keeper.take();
    out_.end = moment(event_);
    out_.statistics = blocks_.statistics();
    if (lives_.has_blocks) compare_end();
  }

 private:
  FollowedMoment moment(std::uint32_t event) const {
    const allocator::Statistics& now = blocks_.statistics();
    return {.event = event,
            .segments = static_cast<std::uint32_t>(now(Stat::kSegment).current),
            .reserved = now(Stat::kReservedBytes).current,
            .active = now(Stat::kActiveBytes).current,
            .allocated = now(Stat::kAllocatedBytes).current,
            .requested = now(Stat::kRequestedBytes).current,
            .inactive_split = now(Stat::kInactiveSplitBytes).current,
            .largest_free = starts_.free_sizes.empty() ? 0 : starts_.free_sizes.rbegin()->first};
  }

  std::uint32_t bin_index(const Bin& bin) {
    const auto [at, is_new] = bins_.try_emplace(bin, static_cast<std::uint32_t>(out_.bins.size()));
    if (is_new) out_.bins.push_back(bin);
    return at->second;
  }
  std::uint32_t bin_index(const SegmentPlace& place) {
    return bin_index(Bin{place.stream, place.pool, place.is_small});
  }

  void doubt(std::uint64_t& which) {
    ++which;
    out_.doubts.first_event = std::min(out_.doubts.first_event, event_);
  }

  void add_segment(const SegmentPlace& place) {
    heads_[place.address] =
        blocks_.add_segment(place.address, place.size, place.is_small, bin_index(place));
  }

  void lay_out_start() {
    for (const SegmentPlace& place : out_.before.segments) add_segment(place);
    for (const SegmentPlace& place : out_.before.reserves) {
      heads_[place.address] =
          blocks_.reserve(place.address, place.size, place.is_small, bin_index(place));
    }
    for (const SegmentPlace& place : out_.before.mapped) map(place.address, place.size);
    for (std::size_t id = 0; id < lives_.older; ++id) {
      const Life& life = lives_.list[id];
      const bool known = life.block < snapshot_.blocks.size();
      const Bytes size =
          known ? snapshot_.blocks[life.block].size : out_.rules.rounded(life.requested);
      if (!known) ++out_.assumed_sizes;
      BlockId block = free_from(life.address, size);
      if (block != kNoBlock && blocks_[block].size > size) blocks_.cut_at(block, size);
      place(static_cast<LifeId>(id), block, size);
      const bool pending = life.let_go == kNoEvent &&
                           (life.freed != kNoEvent ? !lives_.let_go_is_free
                                                   : known && snapshot_.blocks[life.block].state ==
                                                                  memory::BlockState::kPendingFree);
      if (pending) blocks_.request_free(block_of_[static_cast<LifeId>(id)]);
    }
    blocks_.begin_here();
    out_.is_whole = lives_.older == 0 && blocks_.statistics()(Stat::kReservedBytes).current == 0;
  }

  // The free block that begins here, cut out of a larger one if need be; kNoBlock: there is none.
  BlockId free_from(std::uint64_t address, Bytes size) {
    BlockId id = starts_.by_address.find(address);
    if (id == AddressIndex::kNone || blocks_[id].use != Use::kFree)
      id = containing(address, Use::kFree);
    if (id == kNoBlock) return kNoBlock;
    if (blocks_[id].address < address) {
      id = blocks_.cut_at(id, static_cast<Bytes>(address - blocks_[id].address));
    }
    return blocks_[id].size >= size ? id : kNoBlock;
  }

  // Walks the segment the address lies in.
  BlockId containing(std::uint64_t address, Use use) const {
    for (auto head = heads_.upper_bound(address); head != heads_.begin();) {
      --head;
      for (BlockId id = head->second; id != kNoBlock; id = blocks_[id].next) {
        if (blocks_[id].address > address) break;
        if (address < blocks_[id].end() && blocks_[id].use == use) return id;
      }
      // Address space of expandable segments may enclose that of others.
      if (!blocks_[head->second].expandable && blocks_[head->second].use != Use::kGone) break;
    }
    return kNoBlock;
  }

  void place(LifeId life, BlockId block, Bytes rounded) {
    const Life& of = lives_.list[life];
    const bool small = out_.rules.is_small(out_.rules.rounded(of.requested));
    if (block == kNoBlock) {
      doubt(out_.doubts.outside_segments);
      block = blocks_.add_unbacked(of.address, rounded, small, bin_index(Bin{of.stream, 0, small}));
    }
    blocks_.take(block, of.requested, rounded, life);
    block_of_.resize(lives_.list.size(), kNoBlock);
    block_of_[life] = block;
    out_.block_size[life] = blocks_[block].size;
    Bin bin = out_.bins[blocks_[block].bin];
    if (of.pool != memory::kUnknownPool) bin.pool = of.pool;
    bin.stream = of.stream;
    bin.is_small = small;
    out_.bin_of[life] = bin_index(bin);
  }

  // Whether the state may have changed.
  bool apply(std::size_t i) {
    switch (history_.action[i]) {
      case Action::kAlloc:
        allocate(i);
        return true;
      case Action::kFreeRequested:
        let_go(i);
        return true;
      case Action::kFreeCompleted:
        complete(i);
        return true;
      case Action::kSegmentAlloc: {
        const Bytes size = history_.size[i];
        add_segment({history_.address[i], size, history_.stream[i], last_.pool_of(history_, i),
                     size <= allocator::kSmallSegment});
        return true;
      }
      case Action::kSegmentFree:
        return_segment(i);
        return true;
      case Action::kSegmentMap:
        if (!map(history_.address[i], history_.size[i])) doubt(out_.doubts.unknown_segment);
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
    const LifeId life = lives_.of_event[i];
    const std::uint64_t address = history_.address[i];
    const Bytes rounded = out_.rules.rounded(history_.size[i]);
    BlockId id = starts_.by_address.find(address);
    if (id != AddressIndex::kNone &&
        (blocks_[id].use == Use::kInUse || blocks_[id].use == Use::kPending)) {
      doubt(out_.doubts.not_at_a_free_block);
      free_block(id);
      id = starts_.by_address.find(address);
    }
    if (id == AddressIndex::kNone || blocks_[id].use != Use::kFree) {
      id = containing(address, Use::kFree);
      if (id != kNoBlock) id = begin_block_at(id, address);
    }
    if (id != kNoBlock && blocks_[id].size < rounded) {
      doubt(out_.doubts.block_too_small);
    }
    place(life, id, rounded);
  }

  // An allocation in the middle of what looks free: the block before reached up to it, if its size
  // was only assumed.
  BlockId begin_block_at(BlockId id, std::uint64_t address) {
    const BlockId before = blocks_[id].previous;
    const BlockId found = blocks_.cut_at(id, static_cast<Bytes>(address - blocks_[id].address));
    const bool assumed =
        before != kNoBlock && !blocks_[id].small &&
        (blocks_[before].use == Use::kInUse || blocks_[before].use == Use::kPending) &&
        blocks_[before].holder < lives_.older &&
        lives_.list[blocks_[before].holder].block >= snapshot_.blocks.size() &&
        (blocks_[id].size <= allocator::kLargestSmall ||
         blocks_[before].size >= out_.rules.max_split_size);
    if (assumed) {
      blocks_.grow_over_next(before);
      out_.block_size[blocks_[before].holder] = blocks_[before].size;
    } else {
      doubt(out_.doubts.not_at_a_free_block);
    }
    return found;
  }

  void let_go(std::size_t i) {
    const LifeId life = lives_.of_event[i];
    if (life == kNoLife || block_of_.size() <= life || block_of_[life] == kNoBlock) return;
    const BlockId id = block_of_[life];
    if (blocks_[id].use == Use::kInUse) blocks_.request_free(id);
    if (lives_.let_go_is_free) complete(i);
  }

  void complete(std::size_t i) {
    const LifeId life = lives_.of_event[i];
    if (life == kNoLife || block_of_.size() <= life || block_of_[life] == kNoBlock) return;
    free_block(block_of_[life]);
  }

  void free_block(BlockId id) {
    block_of_[blocks_[id].holder] = kNoBlock;
    const bool backed = blocks_[id].backed;
    id = blocks_.complete_free(id);
    if (!backed) blocks_.remove_unbacked(id);
  }

  void return_segment(std::size_t i) {
    const auto head = heads_.find(history_.address[i]);
    if (head == heads_.end()) return doubt(out_.doubts.unknown_segment);
    BlockId id = head->second;
    if (blocks_[id].use != Use::kFree || blocks_[id].has_neighbours()) {
      doubt(out_.doubts.still_in_use);
      for (BlockId at = id; at != kNoBlock;) {
        const BlockId next = blocks_[at].next;
        if (blocks_[at].use == Use::kInUse || blocks_[at].use == Use::kPending) free_block(at);
        at = next;
        // What was free has grown together with what is freed here.
        if (at != kNoBlock && blocks_[at].use == Use::kGone) at = blocks_[id].next;
      }
    }
    if (blocks_[id].size != history_.size[i]) doubt(out_.doubts.unknown_segment);
    blocks_.remove_segment(id);
    heads_.erase(head);
  }

  bool map(std::uint64_t address, Bytes size) {
    BlockId id = starts_.by_address.find(address);
    if (id == AddressIndex::kNone || blocks_[id].use != Use::kUnmapped) {
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

  void unmap(std::size_t i) {
    const BlockId id = containing(history_.address[i], Use::kFree);
    const auto end = history_.address[i] + static_cast<std::uint64_t>(history_.size[i]);
    if (id == kNoBlock || !blocks_[id].expandable) return doubt(out_.doubts.unknown_segment);
    if (blocks_[id].end() < end) return doubt(out_.doubts.still_in_use);
    blocks_.unmap(id, history_.address[i], history_.size[i]);
  }

  void out_of_memory(std::size_t i) {
    FollowedOom oom;
    oom.at = moment(event_);
    if (out_.ooms.size() < kMostOoms) {
      const std::uint16_t pool =
          history_.pool[i] == memory::kUnknownPool ? std::uint16_t{0} : history_.pool[i];
      const Bin bin{history_.stream[i], pool,
                    out_.rules.is_small(out_.rules.rounded(history_.size[i]))};
      for (const auto& [address, head] : heads_) add_free_of(head, bin, oom);
      std::ranges::stable_sort(oom.segments, std::ranges::greater{}, &SegmentFree::free);
    }
    out_.ooms.push_back(std::move(oom));
  }

  void add_free_of(BlockId head, const Bin& asked, FollowedOom& oom) {
    const Bin& bin = out_.bins[blocks_[head].bin];
    SegmentFree segment{.address = blocks_[head].address,
                        .stream = bin.stream,
                        .pool = bin.pool,
                        .is_small = bin.is_small,
                        .is_expandable = blocks_[head].expandable};
    for (BlockId id = head; id != kNoBlock; id = blocks_[id].next) {
      if (blocks_[id].use == Use::kUnmapped) continue;
      segment.size += blocks_[id].size;
      if (blocks_[id].use != Use::kFree) continue;
      segment.free += blocks_[id].size;
      segment.largest_free = std::max(segment.largest_free, blocks_[id].size);
    }
    if (bin == asked) {
      oom.usable += segment.free;
      oom.largest_usable = std::max(oom.largest_usable, segment.largest_free);
    } else {
      oom.elsewhere += segment.free;
    }
    if (segment.free > 0) oom.segments.push_back(segment);
  }

  void compare_end() {
    std::uint64_t expected = 0, found = 0, present = 0;
    for (const memory::Segment* segment : last_.list()) {
      for (const memory::Block& block : snapshot_.blocks_of(*segment)) {
        ++expected;
        const BlockId id = starts_.by_address.find(block.address);
        if (id != AddressIndex::kNone && blocks_[id].size == block.size &&
            blocks_[id].use == use_of(block.state)) {
          ++found;
        }
      }
    }
    for (const Block& block : blocks_.all()) {
      if (block.use != Use::kGone && block.use != Use::kUnmapped) ++present;
    }
    out_.doubts.at_the_end = (expected - found) + (present - std::min(present, found));
  }
  static Use use_of(memory::BlockState state) {
    switch (state) {
      case memory::BlockState::kActive:
        return Use::kInUse;
      case memory::BlockState::kPendingFree:
        return Use::kPending;
      default:
        return Use::kFree;
    }
  }

  const memory::Snapshot& snapshot_;
  const History& history_;
  const Lives& lives_;
  LastSegments last_;
  Followed& out_;
  Starts starts_;
  Blocks<Starts> blocks_;
  std::map<std::uint64_t, BlockId> heads_;  // of the segments, by address
  std::map<Bin, std::uint32_t> bins_;
  std::vector<BlockId> block_of_;  // by life
  std::uint32_t event_ = 0;
};

}  // namespace

Followed follow(const memory::Snapshot& snapshot, const History& history, const Lives& lives,
                std::size_t stretches) {
  Followed out;
  out.rules = allocator::rules_of(snapshot.settings);
  Follower(snapshot, history, lives, out).run(stretches);
  return out;
}

}  // namespace stepscope::analysis
