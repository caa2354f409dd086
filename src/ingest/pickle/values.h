// The machine's memory: its stack, its marks, its memo, and the containers they refer to.
//
// A container that is done is settled: what it says goes where it belongs and its slot is used
// again, so a million events need as many slots as are open at one time. A slot is free for reuse
// only when nothing can still refer to it; a container that was fetched from the memo before it was
// settled keeps its slot and says there what it became.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ingest/pickle/cell.h"
#include "ingest/pickle/memo.h"

namespace stepscope::ingest::pickle {

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
