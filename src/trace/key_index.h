// Which entries have a given id? Ids such as correlations are nearly dense, so a counting sort into
// buckets beats a hash table by far; sparse ids (64-bit addresses) fall back to a sorted list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/column.h"

namespace stepscope::trace {

class KeyIndex {
 public:
  struct Item {
    std::int64_t key;
    std::uint32_t value;
  };

  KeyIndex() = default;
  // `each(add)` calls add(key, value) for every item, the same ones each time: the items are gone
  // through several times and never held. Values of one key keep the order in which they come.
  template <class Each>
  static KeyIndex build(const Each& each);

  std::span<const std::uint32_t> find(std::int64_t key) const;

 private:
  // How much larger than the number of items the range of keys may be and still count as dense.
  static constexpr std::uint64_t kSlack = 8;

  void sort(std::vector<Item> items);

  std::int64_t low_ = 0;
  base::Column<std::uint32_t> first_;  // dense: bucket of key low_ + i
  std::vector<std::int64_t> keys_;     // sparse: sorted, one per value
  base::Column<std::uint32_t> values_;
};

template <class Each>
KeyIndex KeyIndex::build(const Each& each) {
  KeyIndex out;
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  std::size_t count = 0;
  each([&](std::int64_t key, std::uint32_t) {
    low = std::min(low, key);
    high = std::max(high, key);
    ++count;
  });
  if (count == 0) return out;
  out.low_ = low;
  out.values_ = base::Column<std::uint32_t>(count);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (range / kSlack > count) {
    std::vector<Item> items;
    items.reserve(count);
    each([&](std::int64_t key, std::uint32_t value) { items.push_back({key, value}); });
    out.sort(std::move(items));
    return out;
  }
  // Counted two places on, so that filling a bucket from its begin leaves there the begin of the
  // next: what find() wants to see one place on.
  out.first_ = base::Column<std::uint32_t>(static_cast<std::size_t>(range) + 3);
  const std::span<std::uint32_t> first = out.first_.span();
  const auto bucket = [&](std::int64_t key) { return static_cast<std::size_t>(key - low); };
  each([&](std::int64_t key, std::uint32_t) { ++first[bucket(key) + 2]; });
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  each([&](std::int64_t key, std::uint32_t value) {
    out.values_[first[bucket(key) + 1]++] = value;
  });
  return out;
}

}  // namespace stepscope::trace
