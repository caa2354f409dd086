// Looks up entries by id where ids are sparse.
#include "trace/key_index.h"

namespace stepscope::trace {

void KeyIndex::sort(std::vector<Item> items) {
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
    if (bucket + 2 >= first_.size()) return {};
    return values_.span().subspan(first_[bucket], first_[bucket + 1] - first_[bucket]);
  }
  const auto [from, to] = std::equal_range(keys_.begin(), keys_.end(), key);
  return values_.span().subspan(static_cast<std::size_t>(from - keys_.begin()),
                                static_cast<std::size_t>(to - from));
}

}  // namespace stepscope::trace
