// The state of an allocator while its history is followed: its blocks, found by address.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/memory/allocator/blocks.h"
#include "analysis/memory/replay/replay.h"
#include "base/number_map.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
