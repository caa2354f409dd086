#include "base/row_set.h"

#include <atomic>

namespace stepscope::base {

void RowSet::add_shared(std::uint32_t row) {
  std::atomic_ref<std::uint64_t>(words_[row / 64])
      .fetch_or(std::uint64_t{1} << (row % 64), std::memory_order_relaxed);
}

void RowSet::seal() {
  ranks_.assign(words_.size(), 0);
  std::uint32_t count = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    ranks_[w] = count;
    count += static_cast<std::uint32_t>(std::popcount(words_[w]));
  }
  size_ = count;
  if (count == 0) *this = {};  // most tables of most traces: nothing to look up, nothing to keep
}

}  // namespace stepscope::base
