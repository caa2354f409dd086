// The blocks an allocator's segments are cut into, as lists of neighbours, and what cutting and
// joining them does to the statistics. Who decides which block serves which request is outside:
// a record that is followed, or the search for the best fit.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/memory/allocator/rules.h"
#include "base/units.h"

namespace stepscope::analysis::allocator {

// What torch.cuda.memory_stats counts, counted in the same order, so that peaks agree too.

struct Figure {
  std::int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void increase(std::int64_t by) {
    current += by;
    peak = std::max(peak, current);
    allocated += by;
  }
  void decrease(std::int64_t by) {
    current -= by;
    freed += by;
  }
};

enum class Stat : std::uint8_t {
  kAllocation,  // counts
  kSegment,
  kActive,
  kInactiveSplit,
  kAllocatedBytes,  // bytes
  kReservedBytes,
  kActiveBytes,
  kInactiveSplitBytes,
  kRequestedBytes,
  kCount
};
// As a key of memory_stats: "allocation", …, "requested_bytes".
std::string_view name_of(Stat stat);

enum class Part : std::uint8_t { kAll, kLargePool, kSmallPool, kCount };
std::string_view name_of(Part part);  // "all", "large_pool", "small_pool"

class Statistics {
 public:
  const Figure& operator()(Stat stat, Part part = Part::kAll) const {
    return figures_[static_cast<std::size_t>(stat)][static_cast<std::size_t>(part)];
  }
  void increase(Stat stat, bool small, std::int64_t by) {
    at(stat, Part::kAll).increase(by);
    at(stat, small ? Part::kSmallPool : Part::kLargePool).increase(by);
  }
  void decrease(Stat stat, bool small, std::int64_t by) {
    at(stat, Part::kAll).decrease(by);
    at(stat, small ? Part::kSmallPool : Part::kLargePool).decrease(by);
  }
  // What is there now was there before anything was counted.
  void begin_here() {
    for (auto& parts : figures_) {
      for (Figure& figure : parts) figure = {figure.current, figure.current, 0, 0};
    }
  }

 private:
  Figure& at(Stat stat, Part part) {
    return figures_[static_cast<std::size_t>(stat)][static_cast<std::size_t>(part)];
  }
  std::array<std::array<Figure, static_cast<std::size_t>(Part::kCount)>,
             static_cast<std::size_t>(Stat::kCount)>
      figures_ = {};
};

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = 0xffffffff;

// Blocks serve only requests of the same stream, pool and size class.
struct Bin {
  std::int64_t stream = 0;
  std::uint16_t pool = 0;
  bool is_small = false;
  auto operator<=>(const Bin&) const = default;
};

enum class Use : std::uint8_t {
  kFree,
  kInUse,
  kPending,   // given back by the program, a stream may still use it
  kUnmapped,  // address space of an expandable segment without memory
  kGone,      // not a block any more
};

struct Block {
  std::uint64_t address = 0;
  Bytes size = 0;
  Bytes requested = 0;
  BlockId previous = kNoBlock, next = kNoBlock;
  std::uint32_t bin = 0;     // requests are served from blocks of their bin only
  std::uint32_t holder = 0;  // the allocation that has it
  Use use = Use::kGone;
  bool small = false, expandable = false;
  bool backed = true;      // of a segment that is known
  std::uint64_t base = 0;  // where an expandable segment begins: its pages are counted from there

  std::uint64_t end() const { return address + static_cast<std::uint64_t>(size); }
  bool has_neighbours() const { return previous != kNoBlock || next != kNoBlock; }
};

// The watcher hears of every block that begins to exist or ends (born, died), and of every
// free or unmapped one that becomes available or is no longer (offered, withdrawn).
template <class Watcher>
class Blocks {
 public:
  Blocks(const Rules& rules, Watcher& watcher) : rules_(rules), watcher_(watcher) {}

  const Block& operator[](BlockId id) const { return blocks_[id]; }
  std::span<const Block> all() const { return blocks_; }
  const Statistics& statistics() const { return statistics_; }

  // What is there now was there before anything is counted.
  void begin_here() {
    statistics_ = recounted();
    statistics_.begin_here();
  }

  BlockId add_segment(std::uint64_t address, Bytes size, bool small, std::uint32_t bin) {
    const BlockId id =
        make({.address = address, .size = size, .bin = bin, .use = Use::kFree, .small = small});
    statistics_.increase(Stat::kSegment, small, 1);
    statistics_.increase(Stat::kReservedBytes, small, size);
    watcher_.offered(id, blocks_[id]);
    return id;
  }

  // Of a segment that is free as a whole.
  void remove_segment(BlockId id) {
    const Block block = blocks_[id];
    watcher_.withdrawn(id, block);
    statistics_.decrease(Stat::kSegment, block.small, 1);
    statistics_.decrease(Stat::kReservedBytes, block.small, block.size);
    unmake(id);
  }

  // Address space, without memory yet.
  BlockId reserve(std::uint64_t address, Bytes size, bool small, std::uint32_t bin) {
    const BlockId id = make({.address = address,
                             .size = size,
                             .bin = bin,
                             .use = Use::kUnmapped,
                             .small = small,
                             .expandable = true,
                             .base = address});
    watcher_.offered(id, blocks_[id]);
    return id;
  }

  // Gives memory to the beginning of unmapped space. Returns the free block it becomes part of.
  BlockId map(BlockId id, Bytes size) {
    watcher_.withdrawn(id, blocks_[id]);
    if (blocks_[id].size > size) cut(id, size, Use::kUnmapped);
    blocks_[id].use = Use::kFree;
    statistics_.increase(Stat::kReservedBytes, blocks_[id].small, size);
    return join(id);
  }

  // Takes memory from a part of a free block. Returns the unmapped block it becomes part of.
  BlockId unmap(BlockId id, std::uint64_t address, Bytes size) {
    watcher_.withdrawn(id, blocks_[id]);
    if (address > blocks_[id].address) {
      const BlockId rest =
          cut(id, static_cast<Bytes>(address - blocks_[id].address), Use::kUnmapped, false);
      watcher_.offered(id, blocks_[id]);
      id = rest;
    }
    if (blocks_[id].size > size) cut(id, size, Use::kFree);
    blocks_[id].use = Use::kUnmapped;
    statistics_.decrease(Stat::kReservedBytes, blocks_[id].small, size);
    return join(id);
  }

  // Serves a request from a free block, cutting off what is too much. The id stays the same.
  void take(BlockId id, Bytes requested, Bytes rounded, std::uint32_t holder) {
    watcher_.withdrawn(id, blocks_[id]);
    const bool small = blocks_[id].small, counts = !blocks_[id].expandable;
    const bool was_split = blocks_[id].has_neighbours();
    if (blocks_[id].size >= rounded &&
        rules_.cuts(blocks_[id].size, rounded, small, blocks_[id].expandable)) {
      const BlockId rest = cut(id, rounded, Use::kFree);
      if (counts && was_split) {
        statistics_.decrease(Stat::kInactiveSplitBytes, small, rounded);
      } else if (counts) {
        statistics_.increase(Stat::kInactiveSplitBytes, small, blocks_[rest].size);
        statistics_.increase(Stat::kInactiveSplit, small, 1);
      }
    } else if (was_split && counts) {
      statistics_.decrease(Stat::kInactiveSplitBytes, small, blocks_[id].size);
      statistics_.decrease(Stat::kInactiveSplit, small, 1);
    }
    Block& block = blocks_[id];
    block.use = Use::kInUse;
    block.requested = requested;
    block.holder = holder;
    statistics_.increase(Stat::kAllocation, small, 1);
    statistics_.increase(Stat::kAllocatedBytes, small, block.size);
    statistics_.increase(Stat::kActive, small, 1);
    statistics_.increase(Stat::kActiveBytes, small, block.size);
    statistics_.increase(Stat::kRequestedBytes, small, requested);
  }

  void request_free(BlockId id) {
    Block& block = blocks_[id];
    block.use = Use::kPending;
    statistics_.decrease(Stat::kAllocation, block.small, 1);
    statistics_.decrease(Stat::kAllocatedBytes, block.small, block.size);
  }

  // Returns the free block it becomes part of.
  BlockId complete_free(BlockId id) {
    if (blocks_[id].use == Use::kInUse) request_free(id);
    const bool small = blocks_[id].small, counts = !blocks_[id].expandable;
    const Bytes size = blocks_[id].size, requested = blocks_[id].requested;
    std::int64_t splits = 0;
    Bytes split_bytes = 0;
    for (const BlockId other : {blocks_[id].previous, blocks_[id].next}) {
      if (other == kNoBlock || blocks_[other].use != Use::kFree) continue;
      --splits;
      split_bytes -= blocks_[other].size;
    }
    blocks_[id].use = Use::kFree;
    blocks_[id].requested = 0;
    id = join(id);
    if (blocks_[id].has_neighbours()) {
      ++splits;
      split_bytes += blocks_[id].size;
    }
    if (counts) {
      change(Stat::kInactiveSplit, small, splits);
      change(Stat::kInactiveSplitBytes, small, split_bytes);
    }
    statistics_.decrease(Stat::kActive, small, 1);
    statistics_.decrease(Stat::kActiveBytes, small, size);
    statistics_.decrease(Stat::kRequestedBytes, small, requested);
    return id;
  }

  // A block of a segment that is not known; it is in no segment's list.
  BlockId add_unbacked(std::uint64_t address, Bytes size, bool small, std::uint32_t bin) {
    const BlockId id = make({.address = address,
                             .size = size,
                             .bin = bin,
                             .use = Use::kFree,
                             .small = small,
                             .backed = false});
    watcher_.offered(id, blocks_[id]);
    return id;
  }
  void remove_unbacked(BlockId id) {
    watcher_.withdrawn(id, blocks_[id]);
    unmake(id);
  }

  // Cuts an available block where the rules would not. Returns the second part, of the same use.
  BlockId cut_at(BlockId id, Bytes first) {
    watcher_.withdrawn(id, blocks_[id]);
    const BlockId rest = cut(id, first, blocks_[id].use);
    watcher_.offered(id, blocks_[id]);
    return rest;
  }

  // A block in use turns out to reach to the end of the free one after it.
  void grow_over_next(BlockId id) {
    const BlockId next = blocks_[id].next;
    const Bytes size = blocks_[next].size;
    watcher_.withdrawn(next, blocks_[next]);
    absorb_next(id);
    if (blocks_[id].use == Use::kInUse) {
      statistics_.increase(Stat::kAllocatedBytes, blocks_[id].small, size);
    }
    statistics_.increase(Stat::kActiveBytes, blocks_[id].small, size);
  }

 private:
  Statistics recounted() const {
    Statistics all;
    for (const Block& block : blocks_) {
      if (block.use == Use::kGone || block.use == Use::kUnmapped) continue;
      if (block.backed) all.increase(Stat::kReservedBytes, block.small, block.size);
      const bool heads = block.previous == kNoBlock && block.backed && !block.expandable;
      if (heads) all.increase(Stat::kSegment, block.small, 1);
      if (block.use == Use::kFree) {
        if (!block.has_neighbours() || block.expandable) continue;
        all.increase(Stat::kInactiveSplit, block.small, 1);
        all.increase(Stat::kInactiveSplitBytes, block.small, block.size);
        continue;
      }
      all.increase(Stat::kActive, block.small, 1);
      all.increase(Stat::kActiveBytes, block.small, block.size);
      all.increase(Stat::kRequestedBytes, block.small, block.requested);
      if (block.use != Use::kInUse) continue;
      all.increase(Stat::kAllocation, block.small, 1);
      all.increase(Stat::kAllocatedBytes, block.small, block.size);
    }
    return all;
  }

  void change(Stat stat, bool small, std::int64_t by) {
    if (by > 0) statistics_.increase(stat, small, by);
    if (by < 0) statistics_.decrease(stat, small, -by);
  }

  BlockId make(const Block& block) {
    BlockId id = static_cast<BlockId>(blocks_.size());
    if (unused_.empty()) {
      blocks_.push_back(block);
    } else {
      id = unused_.back();
      unused_.pop_back();
      blocks_[id] = block;
    }
    watcher_.born(id, blocks_[id]);
    return id;
  }
  void unmake(BlockId id) {
    watcher_.died(id, blocks_[id]);
    blocks_[id].use = Use::kGone;
    unused_.push_back(id);
  }

  // The rest becomes a block of its own; it is offered unless `offer` is false.
  BlockId cut(BlockId id, Bytes first, Use rest_use, bool offer = true) {
    const Block& block = blocks_[id];
    const BlockId next = block.next;
    const BlockId rest = make({.address = block.address + static_cast<std::uint64_t>(first),
                               .size = block.size - first,
                               .previous = id,
                               .next = next,
                               .bin = block.bin,
                               .use = rest_use,
                               .small = block.small,
                               .expandable = block.expandable,
                               .base = block.base});
    if (next != kNoBlock) blocks_[next].previous = rest;
    blocks_[id].next = rest;
    blocks_[id].size = first;
    if (offer) watcher_.offered(rest, blocks_[rest]);
    return rest;
  }

  void absorb_next(BlockId id) {
    const BlockId next = blocks_[id].next;
    blocks_[id].size += blocks_[next].size;
    blocks_[id].next = blocks_[next].next;
    if (blocks_[id].next != kNoBlock) blocks_[blocks_[id].next].previous = id;
    unmake(next);
  }

  // A block that has become free or unmapped grows together with its neighbours of the same sort.
  BlockId join(BlockId id) {
    const Use use = blocks_[id].use;
    const auto same = [&](BlockId other) { return other != kNoBlock && blocks_[other].use == use; };
    if (const BlockId next = blocks_[id].next; same(next)) {
      watcher_.withdrawn(next, blocks_[next]);
      absorb_next(id);
    }
    if (const BlockId previous = blocks_[id].previous; same(previous)) {
      watcher_.withdrawn(previous, blocks_[previous]);
      absorb_next(previous);
      id = previous;
    }
    watcher_.offered(id, blocks_[id]);
    return id;
  }

  const Rules& rules_;
  Watcher& watcher_;
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;
  Statistics statistics_;
};

}  // namespace stepscope::analysis::allocator
