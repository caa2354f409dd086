// Free blocks in the order in which a best fit is sought: by size, then by address. A tree of wide
// nodes in two arrays: it is changed twice or thrice per event of histories of millions, and a
// binary tree spends that time on allocating its nodes and on mispredicted comparisons.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/memory/allocator/blocks.h"

namespace stepscope::analysis::allocator {

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

}  // namespace stepscope::analysis::allocator
