// Turns dictionaries of a snapshot into segments, blocks, frames and history rows.
#include "ingest/pickle/records.h"

#include <algorithm>

#include "ingest/pickle/words.h"

namespace stepscope::ingest::pickle {
namespace {

using base::Note;

// More unknown values than this are not kept: what a snapshot is made of is settled long before.
constexpr std::size_t kMostCells = std::size_t{1} << 22;

template <class T>
std::size_t memory_of(const std::vector<std::vector<T>>& lists) {
  std::size_t sum = lists.capacity() * sizeof(std::vector<T>);
  for (const std::vector<T>& list : lists) sum += list.capacity() * sizeof(T);
  return sum;
}

}  // namespace

memory::History EventRows::take() {
  memory::History history;
  history.action = base::Column<memory::Action>(size_);
  history.address = base::Column<std::uint64_t>(size_);
  history.size = base::Column<base::Bytes>(size_);
  history.stream = base::Column<std::int64_t>(size_);
  history.time = base::Column<base::Nanos>(size_);
  history.stack = base::Column<memory::StackId>(size_);
  history.forward = base::Column<memory::StackId>(size_);
  history.pool = base::Column<std::uint16_t>(size_);
  history.note = base::Column<base::StringId>(size_);
  history.compile_context = base::Column<base::StringId>(size_);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const auto* const rows = reinterpret_cast<const Event*>(blocks_[block].data());
    const std::size_t first = block * kRows;
    const std::size_t count = std::min(kRows, size_ - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Event& event = rows[i];
      history.action[first + i] = event.action;
      history.address[first + i] = event.address;
      history.size[first + i] = event.size;
      history.stream[first + i] = event.stream;
      history.time[first + i] = event.time;
      history.stack[first + i] = event.stack;
      history.forward[first + i] = event.forward;
      history.pool[first + i] = event.pool;
      history.note[first + i] = event.note;
      history.compile_context[first + i] = event.compile_context;
    }
    blocks_[block] = base::Pages();
  }
  blocks_.clear();
  size_ = 0;
  return history;
}

Cell Records::settle_member(const Cell& key, const Cell& value) {
  if (!value.is_slot()) return value;
  const Cell current = values_.now(value);
  if (!current.is_slot() || key.tag != Tag::kText) return current;
  Cell became;
  if (key.bits == id_of(Word::kFrames) || key.bits == id_of(Word::kForwardFrames)) {
    const memory::StackId stack = stack_of(current);
    became = stack == memory::kNoStack ? Cell{} : Cell{Tag::kStack, stack};
  } else if (key.bits == id_of(Word::kUserMetadata) || key.bits == id_of(Word::kInternalMetadata)) {
    became = Cell::text(strings_.intern(text_of(current), offset_));
  } else if (key.bits == id_of(Word::kBlocks) || key.bits == id_of(Word::kHistory)) {
    const Container& list = values_.at(current);
    if (list.holds != Holds::kBlocks && list.holds != Holds::kOldBlocks) return current;
    became = {Tag::kBlocks, list.records};
  } else if (key.bits == id_of(Word::kPoolId) || key.bits == id_of(Word::kSegmentPoolId)) {
    const std::vector<Cell>& both = values_.at(current).cells;
    const auto is_small = [](const Cell& cell) {
      return cell.tag == Tag::kInt && cell.bits <= 0xffffffff;
    };
    if (both.size() != 2 || !is_small(both[0]) || !is_small(both[1])) return current;
    became = {Tag::kPair, both[0].bits << 32 | both[1].bits};
  } else {
    return current;
  }
  values_.settle(current, became);
  return became;
}

void Records::append(const Cell& list, std::span<const Cell> items) {
  if (values_.at(list).holds == Holds::kStack) spread_stack(values_.at(list));
  const auto is_plain = [](const Cell& item) {
    return !item.is_slot() && item.tag != Tag::kEvent && item.tag != Tag::kRow;
  };
  if (values_.at(list).holds == Holds::kCells && values_.held() < kMostCells &&
      std::ranges::all_of(items, is_plain)) {
    values_.add(values_.at(list), items.data(), items.data() + items.size());
    return;
  }
  for (const Cell& item : items) {
    Cell cell = values_.now(item);
    if (cell.tag == Tag::kEvent && cell.bits == list.bits) continue;  // it is there already
    if (cell.tag == Tag::kDict) cell = settled_item(list, cell);
    if (cell.tag == Tag::kEvent || (cell.tag == Tag::kRow && repeat_event(list, cell))) continue;
    Container& into = values_.at(list);
    if (into.holds != Holds::kCells || values_.held() > kMostCells) {
      log_.add(Note::kUnknownValue, offset_, "in a list");
      if (cell.is_slot()) values_.settle(cell, {Tag::kHusk, 0});
      continue;
    }
    values_.add(into, &cell, &cell + 1);
  }
}

// More comes into a list that was taken for a whole stack.
void Records::spread_stack(Container& list) {
  std::vector<Cell> cells;
  for (const memory::FrameId frame : stacks.stacks()[list.records]) {
    cells.push_back({Tag::kFrame, frame});
  }
  list.holds = Holds::kCells;
  list.records = kNoRecords;
  values_.add(list, cells.data(), cells.data() + cells.size());
}

void Records::hold_stack(const Cell& list, memory::StackId stack) {
  Container& container = values_.at(list);
  container.holds = Holds::kStack;
  container.records = stack;
}

memory::StackId Records::stack_of_frames(const Cell& list) {
  const Container& container = values_.at(list);
  const auto is_frame = [](const Cell& cell) { return cell.tag == Tag::kFrame; };
  if (container.holds != Holds::kCells || !std::ranges::all_of(container.cells, is_frame)) {
    return memory::kNoStack;
  }
  return stack_of(list);
}

// What a dictionary is once it lies in a list: kEvent says that the list has taken it in.
Cell Records::settled_item(const Cell& list, const Cell& item) {
  const Container& dict = values_.at(item);
  constexpr std::uint64_t kFrameKeys = bit_of(Word::kFilename) | bit_of(Word::kLine);
  if ((dict.keys & bit_of(Word::kName)) != 0 && (dict.keys & kFrameKeys) != 0) {
    const Cell frame{Tag::kFrame, take_frame(dict)};
    values_.settle(item, frame);
    return frame;
  }
  if (!take_record(list, item)) return item;
  values_.settle(item, what_is_left(list));
  return {Tag::kEvent, list.bits};
}

// Of a dictionary that the list has just taken in, for whoever refers to it again.
Cell Records::what_is_left(const Cell& list) const {
  constexpr std::uint64_t kMostLists = 1u << 16;
  const Container& container = values_.at(list);
  if (container.holds != Holds::kEvents || container.records >= kMostLists) return {Tag::kHusk, 0};
  return {Tag::kRow,
          std::uint64_t{container.records} << 40 | (events[container.records].size() - 1)};
}

// The same object once more.
bool Records::repeat_event(const Cell& list, const Cell& row) {
  std::size_t count = events.size();
  if (!claim(list, Holds::kEvents, count)) return false;
  if (count > events.size()) events.emplace_back();
  const Event event = events[row.bits >> 40].at(row.bits & ((std::uint64_t{1} << 40) - 1));
  events[values_.at(list).records].add(event);
  return true;
}

bool Records::settle_event(const Cell& item, const Cell& list) {
  constexpr std::uint64_t kEventKeys = bit_of(Word::kAction) | bit_of(Word::kSize);
  const Container& dict = values_.at(item);
  if ((dict.keys & kEventKeys) != kEventKeys || dict.shared || dict.cut) return false;
  if (!take_record(list, item)) return false;
  values_.settle(item, what_is_left(list));
  return true;
}

Cell Records::add_event(const Cell& list, std::span<const Cell> members, std::uint64_t keys) {
  take_event(members, keys, events[values_.at(list).records]);
  return what_is_left(list);
}

bool Records::claim(const Cell& list, Holds holds, std::size_t& count) {
  Container& container = values_.at(list);
  if (container.holds == holds) return true;
  if (container.holds != Holds::kCells || !container.cells.empty()) return false;
  container.holds = holds;
  container.records = static_cast<std::uint32_t>(count);
  ++count;
  return true;
}

bool Records::take_record(const Cell& list, const Cell& item) {
  const Container& dict = values_.at(item);
  const auto has_key = [&](Word word) { return (dict.keys & bit_of(word)) != 0; };
  const auto claimed = [&](Holds holds, auto& lists) {
    std::size_t count = lists.size();
    if (!claim(list, holds, count)) return false;
    if (count > lists.size()) lists.emplace_back();
    return true;
  };
  const auto records_of = [&](auto& lists) -> auto& { return lists[values_.at(list).records]; };
  if (has_key(Word::kAction)) {
    if (dict.cut) return true;  // half an event is none
    if (!claimed(Holds::kEvents, events)) return false;
    take_event(dict.cells, dict.keys, records_of(events));
    return true;
  }
  if (has_key(Word::kBlocks) || has_key(Word::kTotalSize)) {
    if (!claimed(Holds::kSegments, segments)) return false;
    records_of(segments).push_back(take_segment(dict));
    return true;
  }
  if (has_key(Word::kStage) && has_key(Word::kName)) {
    if (dict.cut) return true;
    if (!claimed(Holds::kAnnotations, annotations)) return false;
    records_of(annotations).push_back(take_annotation(dict));
    return true;
  }
  const bool old = has_key(Word::kRealSize);
  if (old || (has_key(Word::kSize) && (has_key(Word::kState) || has_key(Word::kAddress)))) {
    if (dict.cut) return true;
    if (!claimed(old ? Holds::kOldBlocks : Holds::kBlocks, blocks)) return false;
    records_of(blocks).push_back(take_block(dict));
    return true;
  }
  return false;
}

std::size_t Records::memory() const {
  std::size_t sum = memory_of(blocks) + memory_of(segments) + memory_of(annotations);
  for (const EventRows& rows : events) sum += rows.memory();
  for (const auto& list : segments) {
    for (const RawSegment& draft : list) sum += draft.blocks.capacity() * sizeof(memory::Block);
  }
  return sum + stacks.memory();
}

}  // namespace stepscope::ingest::pickle
