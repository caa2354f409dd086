// An allocator that works as torch's does: it looks for the best fit among the free blocks it
// keeps, takes new memory from the driver where none fits, and returns what it can when the driver
// has no more. For asking what other settings would have done with the same requests.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/memory/allocator/blocks.h"

namespace stepscope::analysis::allocator {

// Free blocks in the order in which a best fit is sought: by size, then by address. A tree of wide
// nodes in two arrays: it is changed twice or thrice per event of histories of millions, and a
// binary tree spends that time on allocating its nodes and on mispredicted comparisons.

class FreeList {
 public:
  // A place in the order; as long as the list does not change.
  struct Place {
    std::uint32_t leaf = kNone, at = 0;
    bool operator==(const Place&) const = default;
  };

  FreeList() { leaves_.emplace_back(); }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  void insert(Bytes size, std::uint64_t address, BlockId id);
  void erase(Bytes size, std::uint64_t address);

  // The smallest block of at least this size; the lowest of them. is_end: there is none.
  Place first_of(Bytes least) const;
  Place begin() const { return at_or_after({first_, 0}); }
  Place last() const;  // of a list that is not empty
  Place next(Place place) const { return at_or_after({place.leaf, place.at + 1}); }
  bool is_end(Place place) const { return place.leaf == kNone; }

  BlockId id(Place place) const { return leaves_[place.leaf].ids[place.at]; }
  Bytes size_at(Place place) const {
    return static_cast<Bytes>(leaves_[place.leaf].keys[place.at] >> 64);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kWidth = 64;
  __extension__ using Key = unsigned __int128;  // size and address: compared at once

  struct Leaf {
    std::uint32_t count = 0, previous = kNone, next = kNone;
    std::array<Key, kWidth> keys = {};
    std::array<BlockId, kWidth> ids = {};
  };
  // keys[i] is not above anything below children[i], and above everything below children[i - 1].
  struct Inner {
    std::uint32_t count = 0;
    std::array<Key, kWidth> keys = {};
    std::array<std::uint32_t, kWidth> children = {};
  };
  struct Step {
    std::uint32_t inner, at;
  };

  static Key key_of(Bytes size, std::uint64_t address) {
    return (static_cast<Key>(static_cast<std::uint64_t>(size)) << 64) | address;
  }
  // How many of so many keys, from the first on, are below this one.
  static std::uint32_t below(const Key* keys, std::uint32_t count, Key key);
  static std::uint32_t child_for(const Inner& inner, Key key) {
    return below(inner.keys.data() + 1, inner.count - 1, key + 1);
  }

  Place at_or_after(Place place) const {
    if (place.at < leaves_[place.leaf].count) return place;
    const std::uint32_t next = leaves_[place.leaf].next;
    return next == kNone ? Place{} : Place{next, 0};
  }
  std::uint32_t leaf_for(Key key) const;
  std::uint32_t path_to(Key key);  // into path_; returns the leaf
  std::uint32_t split_leaf(std::uint32_t leaf);
  std::uint32_t new_inner();
  void add_child(Key key, std::uint32_t child);
  void drop_leaf(std::uint32_t leaf);

  std::vector<Leaf> leaves_;
  std::vector<Inner> inners_;
  std::vector<std::uint32_t> unused_leaves_, unused_inners_;
  std::vector<Step> path_;
  std::uint32_t root_ = 0, height_ = 0;  // without inner nodes the root is the only leaf
  std::uint32_t first_ = 0;
  std::size_t size_ = 0;
};

enum class DriverAction : std::uint8_t { kAlloc, kFree, kMap, kUnmap };
struct DriverCall {
  DriverAction action = DriverAction::kAlloc;
  std::uint64_t address = 0;
  Bytes size = 0;
  auto operator<=>(const DriverCall&) const = default;
};

class Caching {
 public:
  // Without a limit the driver always has memory.
  Caching(const Rules& rules, std::optional<Bytes> limit);
  Caching(const Caching&) = delete;
  Caching& operator=(const Caching&) = delete;

  std::uint32_t bin(const Bin& bin);
  // kNoBlock: out of memory. Rounded by the same rules.
  BlockId request(std::uint32_t bin, Bytes requested, Bytes rounded, std::uint32_t holder);
  // Whether a request would be served, with what it takes to find out left undone.
  bool would_fit(std::uint32_t bin, Bytes requested);
  void request_free(BlockId id) { blocks_.request_free(id); }
  void complete_free(BlockId id) { blocks_.complete_free(id); }
  // Returns every segment that is free as a whole, and every free page of expandable ones.
  void release_cached(std::uint16_t pool);
  // Returns the segment that begins here; false: it is not free as a whole.
  bool release_segment(std::uint64_t address);

  // A state to begin with: segments, and what lies in them in the order of addresses.
  void begin_segment(std::uint64_t address, Bytes size, std::uint32_t bin);
  void begin_reserve(std::uint64_t address, std::uint32_t bin);
  void begin_mapped(std::uint64_t address, Bytes size, std::uint32_t bin);
  BlockId begin_block(std::uint64_t address, Bytes size, Bytes requested, std::uint32_t holder);
  void begin_here() { blocks_.begin_here(); }

  // Where the next memory from the driver will lie; without one, at rising addresses.
  void expect(std::uint64_t address) { expected_.push_back(address); }
  void expect_nothing() { expected_.clear(); }

  // Other values of max_split_size: which of them would so far have decided everything alike?
  void watch_split_sizes(std::span<const Bytes> others);
  const std::vector<Bytes>& same_split_sizes() const { return same_splits_; }

  const Block& operator[](BlockId id) const { return blocks_[id]; }
  const Statistics& statistics() const { return blocks_.statistics(); }
  Bytes reserved() const { return statistics()(Stat::kReservedBytes).current; }
  std::uint64_t driver_allocs = 0, driver_frees = 0, retries = 0;
  std::vector<DriverCall>* calls = nullptr;  // every call is added, if set

 private:
  struct Lists {
    Bin bin;
    FreeList free;
    std::map<std::uint64_t, BlockId> unmapped;
  };
  // Learns from the blocks what is free.
  struct Watcher {
    std::vector<Lists> lists;
    std::vector<std::uint64_t> since;  // by block: how many searches before it became free
    std::uint64_t searches = 0;        // of the large blocks of the common pool
    void born(BlockId, const Block&) {}
    void died(BlockId, const Block&) {}
    void offered(BlockId id, const Block& block);
    void withdrawn(BlockId id, const Block& block);
  };

  BlockId best_fit(std::uint32_t bin, Bytes rounded);
  // Drops the split sizes that would decide otherwise about a block of this size.
  template <class Decision>
  void keep_same_splits(Bytes size, Decision decision);
  BlockId take_new(std::uint32_t bin, Bytes rounded);
  BlockId expand(std::uint32_t bin, Bytes rounded);
  BlockId room_in_reserves(std::uint32_t bin, Bytes rounded) const;
  BlockId map(BlockId id, Bytes size);
  bool release_oversized(std::uint32_t bin, Bytes rounded);
  void collect();
  void release_block(BlockId id);
  void unmap_pages(BlockId id);
  // The whole pages of a free block of an expandable segment.
  std::pair<std::uint64_t, Bytes> pages_of(const Block& block) const;
  bool is_available(BlockId id) const {
    return id != kNoBlock && (blocks_[id].use == Use::kFree || blocks_[id].use == Use::kUnmapped);
  }
  bool has_room(Bytes more) const { return !limit_ || reserved() + more <= *limit_; }
  std::uint64_t next_address(Bytes size);
  void note(DriverAction action, std::uint64_t address, Bytes size);

  Rules rules_;
  std::optional<Bytes> limit_;
  std::vector<Bytes> same_splits_;
  Bytes least_split_ = kNoLimit;  // of them and the one in force: no smaller block is decided about
  Watcher watcher_;
  Blocks<Watcher> blocks_;
  std::map<Bin, std::uint32_t> bins_;
  std::map<std::uint64_t, BlockId> heads_;  // first blocks of segments and reserves
  std::vector<std::uint64_t> expected_;
  BlockId laid_out_ = kNoBlock;  // the last of begin_block
  std::uint64_t rising_ = std::uint64_t{1} << 50;
};

}  // namespace stepscope::analysis::allocator
