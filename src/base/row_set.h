// A set of row numbers with O(1) rank: which side-table entry belongs to event row r, and is there
// one at all? One bit a row plus one count per 64 rows, so a side column costs nothing for the rows
// that have no entry and needs no array of row numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace stepscope::base {

class RowSet {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  RowSet() = default;
  explicit RowSet(std::size_t universe) : words_((universe + 63) / 64) {}

  // Filling; seal() ends it. Several threads may fill at once, each with a Shared of its own.
  void add(std::uint32_t row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  void seal();
  class Shared;

  std::size_t size() const { return size_; }
  bool contains(std::uint32_t row) const {
    return row / 64 < words_.size() && (words_[row / 64] >> (row % 64) & 1) != 0;
  }
  // The entry of a row that is in the set.
  std::uint32_t rank(std::uint32_t row) const {
    const std::size_t word = row / 64;
    const std::uint64_t below = words_[word] & ((std::uint64_t{1} << (row % 64)) - 1);
    return ranks_[word] + static_cast<std::uint32_t>(std::popcount(below));
  }
  // The entry of a row, or kNone.
  std::uint32_t find(std::uint32_t row) const { return contains(row) ? rank(row) : kNone; }

  // Calls visit(row, entry) in ascending order of both.
  template <class Visit>
  void for_each(Visit visit) const {
    for_each(0, words_.size(), visit);
  }
  // The same for some words of 64 rows each, of words() in all.
  std::size_t words() const { return words_.size(); }
  template <class Visit>
  void for_each(std::size_t from, std::size_t to, Visit visit) const {
    std::uint32_t entry = from < to ? ranks_[from] : 0;
    for (std::size_t w = from; w < to; ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        visit(
            static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(word)),
            entry++);
      }
    }
  }

  std::size_t memory() const {
    return words_.capacity() * sizeof(words_[0]) + ranks_.capacity() * sizeof(ranks_[0]);
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> ranks_;  // members before each word
  std::size_t size_ = 0;
};

// Adds rows beside other threads. Rows that come one after the other are mostly neighbours: what
// falls into one word is written at once, since every such write waits for the other threads.
class RowSet::Shared {
 public:
  explicit Shared(RowSet& set) : set_(set) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { write(); }

  void add(std::uint32_t row) {
    if (row / 64 != word_) {
      write();
      word_ = row / 64;
      bits_ = 0;
    }
    bits_ |= std::uint64_t{1} << (row % 64);
  }

 private:
  void write();

  RowSet& set_;
  std::uint32_t word_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace stepscope::base
