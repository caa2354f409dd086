// A set of row numbers and the rank of each.
#include "base/row_set.h"

#include <atomic>

namespace stepscope::base {

void RowSet::Shared::write() {
  if (bits_ == 0) return;
  std::atomic_ref<std::uint64_t>(set_.words_[word_]).fetch_or(bits_, std::memory_order_relaxed);
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
