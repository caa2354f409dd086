// What the pickle may refer to again, by number. A file has two entries per event, so one takes 8
// bytes: the tag and 56 bits. Numbers, which no pickler memoises, lie apart; so do entries far
// beyond the others, which only a hostile file has.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ingest/pickle/cell.h"

namespace stepscope::ingest::pickle {

class Memo {
 public:
  std::uint64_t count() const { return count_; }
  // Whether the next entry is simply one more.
  bool is_dense() const { return count_ == packed_.size() && far_.empty(); }
  // How often an entry was replaced: what was concluded from numbers alone holds only until then.
  std::uint64_t replaced() const { return replaced_; }

  void set(std::uint64_t index, const Cell& cell) {
    if (index == packed_.size()) {
      packed_.push_back(pack(cell));
      ++count_;
      return;
    }
    set_elsewhere(index, cell);
  }

  // False where nothing was put.
  bool get(std::uint64_t index, Cell& cell) const {
    if (index < packed_.size()) {
      const std::uint64_t word = packed_[index];
      if (word == kUnset) return false;
      cell = {static_cast<Tag>(word >> kShift), word & kMask};
      if (cell.tag == kApart) cell = apart_[cell.bits];
      return true;
    }
    const auto found = far_.find(index);
    if (found == far_.end()) return false;
    cell = found->second;
    return true;
  }

  std::size_t memory() const {
    return packed_.capacity() * sizeof(std::uint64_t) + apart_.capacity() * sizeof(Cell) +
           far_.size() * 64;
  }

 private:
  static constexpr int kShift = 56;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kShift) - 1;
  static constexpr std::uint64_t kUnset = ~std::uint64_t{0};
  static constexpr Tag kApart = static_cast<Tag>(0xfe);
  static constexpr std::uint64_t kMostGap = 4096;

  std::uint64_t pack(const Cell& cell) {
    if (cell.bits <= kMask) return static_cast<std::uint64_t>(cell.tag) << kShift | cell.bits;
    apart_.push_back(cell);
    return static_cast<std::uint64_t>(kApart) << kShift | (apart_.size() - 1);
  }

  void set_elsewhere(std::uint64_t index, const Cell& cell) {
    if (index < packed_.size()) {
      if (packed_[index] == kUnset) ++count_;
      if (static_cast<Tag>(packed_[index] >> kShift) == Tag::kFrame) ++replaced_;
      packed_[index] = pack(cell);
    } else if (index < packed_.size() + kMostGap) {
      packed_.resize(index, kUnset);
      packed_.push_back(pack(cell));
      ++count_;
    } else {
      if (far_.insert_or_assign(index, cell).second) ++count_;
      ++replaced_;
    }
  }

  std::vector<std::uint64_t> packed_;
  std::vector<Cell> apart_;
  std::unordered_map<std::uint64_t, Cell> far_;
  std::uint64_t count_ = 0;
  std::uint64_t replaced_ = 0;
};

}  // namespace stepscope::ingest::pickle
