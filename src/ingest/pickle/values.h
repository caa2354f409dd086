// The machine's memory: its stack, its marks, its memo, and the containers they refer to.
//
// A container that is done is settled: what it says goes where it belongs and its slot is used
// again, so a million events need as many slots as are open at one time. A slot is free for reuse
// only when nothing can still refer to it; a container that was fetched from the memo before it was
// settled keeps its slot and says there what it became.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepscope::ingest::pickle {

// A value of the pickle machine in 16 bytes. Text is interned, containers are slots elsewhere, and
// what has become part of the snapshot (a frame, a stack, an event) is only its id.

enum class Tag : std::uint8_t {
  kNone,
  kBool,
  kInt,       // int64
  kUnsigned,  // from 2^63 on: addresses that Python writes in nine bytes
  kHuge,      // an integer beyond 64 bits
  kReal,
  kText,    // a string's id
  kPair,    // a tuple of two small integers: a pool's id
  kList,    // a slot; tuples and sets are lists too
  kDict,    // a slot
  kFrame,   // settled: a memory::FrameId
  kStack,   // settled: a memory::StackId
  kBlocks,  // settled: an index into the lists of blocks
  kEvent,   // settled into the list that bits names; appending it there is done already
  kRow,     // settled: an event, by its list of events (16 bits) and its row there (40 bits)
  kHusk,    // settled or dropped: nothing of it is left
};

struct Cell {
  Tag tag = Tag::kNone;
  std::uint64_t bits = 0;

  bool is_slot() const { return tag == Tag::kList || tag == Tag::kDict; }
  std::uint32_t id() const { return static_cast<std::uint32_t>(bits); }

  static Cell integer(std::int64_t value) { return {Tag::kInt, static_cast<std::uint64_t>(value)}; }
  static Cell real(double value) { return {Tag::kReal, std::bit_cast<std::uint64_t>(value)}; }
  static Cell text(std::uint32_t id) { return {Tag::kText, id}; }
};

// Two's complement, least significant byte first, of any length.
inline Cell integer_of(std::string_view bytes) {
  if (bytes.empty()) return Cell::integer(0);
  const bool negative = (bytes.back() & 0x80) != 0;
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&value, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  bool fits = true;
  for (std::size_t i = 8; i < bytes.size(); ++i) {
    fits = fits && static_cast<unsigned char>(bytes[i]) == (negative ? 0xff : 0);
  }
  const bool top = (value >> 63) != 0;
  if (!fits || (negative && !top)) return {Tag::kHuge, 0};
  return {top && !negative ? Tag::kUnsigned : Tag::kInt, value};
}

// As a whole number; some dumps were made from floats. Nothing where it is none or does not fit.
inline std::optional<std::int64_t> whole(const Cell& cell) {
  switch (cell.tag) {
    case Tag::kBool:
    case Tag::kInt:
      return static_cast<std::int64_t>(cell.bits);
    case Tag::kReal: {
      const double value = std::bit_cast<double>(cell.bits);
      if (!(value >= -9.2e18 && value <= 9.2e18)) return std::nullopt;
      return static_cast<std::int64_t>(std::llround(value));
    }
    default:
      return std::nullopt;
  }
}

// The same for addresses, which use all 64 bits.
inline std::optional<std::uint64_t> address(const Cell& cell) {
  if (cell.tag == Tag::kUnsigned) return cell.bits;
  const auto value = whole(cell);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

// What the pickle may refer to again, by number. A file has two entries per event, so one takes 8
// bytes: the tag and 56 bits. Numbers, which no pickler memoises, lie apart; so do entries far
// beyond the others, which only a hostile file has.

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

inline constexpr std::uint32_t kNoRecords = 0xffffffff;

// What the members of a list were turned into while they were appended.
enum class Holds : std::uint8_t {
  kCells,
  kStack,  // frames only, and their stack is known already: records is its id
  kEvents,
  kBlocks,
  kSegments,
  kAnnotations,
  kOldBlocks,
};

struct Container {
  std::vector<Cell> cells;  // of a dict: key, value, key, value
  std::uint64_t keys = 0;   // of a dict: a bit for each known key it has
  std::uint64_t memo_at = kNotInMemo;
  Cell became;
  std::uint32_t records = kNoRecords;  // index into the records of what it holds
  Holds holds = Holds::kCells;
  bool shared = false;  // referred to from more than one place
  bool settled = false;
  bool cut = false;  // the file ended before it was complete

  static constexpr std::uint64_t kNotInMemo = std::numeric_limits<std::uint64_t>::max();
};

class Values {
 public:
  std::vector<Cell> stack;
  std::vector<std::size_t> marks;

  Cell make(Tag tag);
  Container& at(const Cell& cell) { return containers_[cell.bits]; }
  const Container& at(const Cell& cell) const { return containers_[cell.bits]; }

  // What a cell stands for now.
  Cell now(const Cell& cell) const {
    if (!cell.is_slot()) return cell;
    const Container& container = at(cell);
    return container.settled ? container.became : cell;
  }
  // Replaces a container by what it became, wherever it is referred to. What only it held goes.
  void settle(const Cell& cell, const Cell& became);
  void add(Container& container, const Cell* first, const Cell* last) {
    container.cells.insert(container.cells.end(), first, last);
    held_ += static_cast<std::size_t>(last - first);
  }

  void put(std::uint64_t index, const Cell& cell) {
    if (cell.is_slot()) {
      Container& container = at(cell);
      if (container.memo_at == Container::kNotInMemo) {
        container.memo_at = index;
      } else {
        container.shared = true;
      }
    }
    memo_.set(index, cell);
  }
  bool get(std::uint64_t index, Cell& cell) {
    if (!memo_.get(index, cell)) return false;
    if (cell.is_slot()) {
      cell = now(cell);
      if (cell.is_slot()) at(cell).shared = true;
    }
    return true;
  }
  std::uint64_t memo_count() const { return memo_.count(); }
  const Memo& memo() const { return memo_; }
  // What was remembered and settled without a container.
  void remember(const Cell& settled) { memo_.set(memo_.count(), settled); }

  std::size_t held() const { return held_; }  // containers and what is in them, in cells
  std::size_t memory() const;

 private:
  static constexpr std::size_t kSlotCells = sizeof(Container) / sizeof(Cell);

  bool is_reachable(const Cell& slot) const {
    const Container& container = at(slot);
    return container.shared || container.settled || container.memo_at != Container::kNotInMemo;
  }
  void settle_one(const Cell& cell, const Cell& became);

  std::vector<Container> containers_;
  std::vector<Cell> orphans_;
  std::vector<std::uint32_t> free_;
  Memo memo_;
  std::size_t held_ = 0;
};

}  // namespace stepscope::ingest::pickle
