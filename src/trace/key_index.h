// Which entries have a given id? Ids such as correlations are nearly dense, so a counting sort into
// buckets beats a hash table by far; sparse ids (64-bit addresses) fall back to a sorted list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepscope::trace {

class KeyIndex {
 public:
  struct Item {
    std::int64_t key;
    std::uint32_t value;
  };

  KeyIndex() = default;
  // Values of one key keep the order in which they are given.
  explicit KeyIndex(std::vector<Item> items);

  std::span<const std::uint32_t> find(std::int64_t key) const;

 private:
  std::int64_t low_ = 0;
  std::vector<std::uint32_t> first_;  // dense: bucket of key low_ + i
  std::vector<std::int64_t> keys_;    // sparse: sorted, one per value
  std::vector<std::uint32_t> values_;
};

}  // namespace stepscope::trace
