#include "trace/key_index.h"

#include <algorithm>

namespace stepscope::trace {
namespace {

// How much larger than the number of items the range of keys may be and still count as dense.
constexpr std::uint64_t kSlack = 8;

}  // namespace

KeyIndex::KeyIndex(std::vector<Item> items) {
  if (items.empty()) return;
  const auto [low, high] = std::minmax_element(
      items.begin(), items.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
  low_ = low->key;
  const std::uint64_t range =
      static_cast<std::uint64_t>(high->key) - static_cast<std::uint64_t>(low->key);
  values_.resize(items.size());
  if (range / kSlack <= items.size()) {
    first_.assign(static_cast<std::size_t>(range) + 2, 0);
    for (const Item& item : items) ++first_[static_cast<std::size_t>(item.key - low_) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    // Filling moves each bucket's begin to its end; stepping back from there restores it.
    for (const Item& item : items) {
      values_[first_[static_cast<std::size_t>(item.key - low_)]++] = item.value;
    }
    for (std::size_t i = first_.size() - 1; i > 0; --i) first_[i] = first_[i - 1];
    first_[0] = 0;
    return;
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.key < b.key; });
  keys_.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    keys_.push_back(items[i].key);
    values_[i] = items[i].value;
  }
}

std::span<const std::uint32_t> KeyIndex::find(std::int64_t key) const {
  if (!first_.empty()) {
    if (key < low_) return {};
    const std::uint64_t bucket = static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(low_);
    if (bucket + 1 >= first_.size()) return {};
    return std::span(values_).subspan(first_[bucket], first_[bucket + 1] - first_[bucket]);
  }
  const auto [from, to] = std::equal_range(keys_.begin(), keys_.end(), key);
  return std::span(values_).subspan(static_cast<std::size_t>(from - keys_.begin()),
                                    static_cast<std::size_t>(to - from));
}

}  // namespace stepscope::trace
