// Makes, reuses and frees the slots of containers in a pickle.
#include "ingest/pickle/values.h"

namespace stepscope::ingest::pickle {
namespace {

constexpr std::size_t kMostKept = 1024;  // cells a free slot keeps room for

}  // namespace

Cell Values::make(Tag tag) {
  held_ += kSlotCells;
  if (free_.empty()) {
    containers_.emplace_back();
    return {tag, containers_.size() - 1};
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return {tag, slot};
}

void Values::settle(const Cell& cell, const Cell& became) {
  for (const Cell& member : at(cell).cells) {
    if (member.is_slot() && !is_reachable(member)) orphans_.push_back(member);
  }
  settle_one(cell, became);
  while (!orphans_.empty()) {
    const Cell orphan = orphans_.back();
    orphans_.pop_back();
    for (const Cell& member : at(orphan).cells) {
      if (member.is_slot() && !is_reachable(member)) orphans_.push_back(member);
    }
    settle_one(orphan, {Tag::kHusk, 0});
  }
}

void Values::settle_one(const Cell& cell, const Cell& became) {
  Container& container = at(cell);
  held_ -= container.cells.size() + kSlotCells;
  container.cells.clear();
  if (container.cells.capacity() > kMostKept) container.cells = {};
  if (container.shared) {
    container.settled = true;
    container.became = became;
    return;
  }
  Cell remembered;  // another object may have been put there since
  if (container.memo_at != Container::kNotInMemo && memo_.get(container.memo_at, remembered) &&
      remembered.tag == cell.tag && remembered.bits == cell.bits) {
    memo_.set(container.memo_at, became);
  }
  container.keys = 0;
  container.memo_at = Container::kNotInMemo;
  container.records = kNoRecords;
  container.holds = Holds::kCells;
  container.cut = false;
  free_.push_back(cell.id());
}

std::size_t Values::memory() const {
  return stack.capacity() * sizeof(Cell) + marks.capacity() * sizeof(std::size_t) +
         containers_.capacity() * sizeof(Container) + free_.capacity() * 4 + memo_.memory() +
         held_ * sizeof(Cell);
}

}  // namespace stepscope::ingest::pickle
