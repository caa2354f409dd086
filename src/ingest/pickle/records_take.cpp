// One dictionary, one record: what the keys mean, whatever torch wrote them.

#include <algorithm>

#include <fmt/format.h>

#include "ingest/pickle/records.h"
#include "ingest/pickle/words.h"
#include "memory/places.h"

namespace stepscope::ingest::pickle {
namespace {

using base::Note;
using memory::Action;
using memory::BlockState;

constexpr std::int64_t kMostMicroseconds = std::numeric_limits<std::int64_t>::max() / 1000;

Action action_of(base::StringId id) {
  const std::uint32_t first = id_of(Word::kAlloc);
  const bool known = id >= first && id <= id_of(Word::kAnnotate);
  return known ? static_cast<Action>(id - first) : Action::kUnknown;
}

// The words of actions are in the order of memory::Action.
static_assert(id_of(Word::kAnnotate) - id_of(Word::kAlloc) ==
              static_cast<std::uint32_t>(Action::kAnnotate));

BlockState state_of(base::StringId id) {
  switch (id) {
    case id_of(Word::kActiveAllocated):
      return BlockState::kActive;
    case id_of(Word::kActivePendingFree):
    case id_of(Word::kActiveAwaitingFree):
      return BlockState::kPendingFree;
    case id_of(Word::kInactive):
      return BlockState::kInactive;
    default:
      return BlockState::kUnknown;
  }
}

template <class Each>
void each_known(std::span<const Cell> members, Each each) {
  for (std::size_t i = 0; i + 1 < members.size(); i += 2) {
    const Cell& key = members[i];
    if (key.tag == Tag::kText && key.bits < id_of(Word::kKeys)) {
      each(static_cast<Word>(key.bits), members[i + 1]);
    }
  }
}

}  // namespace

// A size or a count; what is no number is noted and taken as 0.
std::int64_t Records::number(const Cell& cell) {
  const auto value = whole(cell);
  if (!value) log_.add(Note::kIncompleteRecord, offset_, "a size that is no number");
  return value.value_or(0);
}

base::StringId Records::text_id(const Cell& cell) const {
  if (cell.tag != Tag::kText) return base::kNoString;
  if (cell.bits == id_of(Word::kNothing) || cell.bits == id_of(Word::kNotApplicable)) {
    return base::kNoString;
  }
  return cell.id();
}

base::Nanos Records::time_of(const Cell& cell) {
  if (cell.tag == Tag::kNone) return memory::kNoTime;
  const auto micros = whole(cell);
  if (!micros || *micros < 0 || *micros > kMostMicroseconds) {
    log_.add(Note::kTimeOutOfRange, offset_, text_of(cell));
    return memory::kNoTime;
  }
  return *micros * 1000;
}

memory::StackId Records::stack_of(const Cell& given) {
  const Cell cell = values_.now(given);
  if (cell.tag == Tag::kStack) return cell.id();
  if (cell.tag != Tag::kList) return memory::kNoStack;
  if (values_.at(cell).holds == Holds::kStack) return values_.at(cell).records;
  frames_.clear();
  for (const Cell& raw : values_.at(cell).cells) {
    const Cell item = values_.now(raw);
    if (item.tag == Tag::kFrame) {
      frames_.push_back(item.id());
    } else if (item.tag == Tag::kText) {
      frames_.push_back(stacks.frame({.name = item.id()}));
    } else {
      log_.add(Note::kUnknownValue, offset_, "in a stack");
    }
  }
  return stacks.stack(frames_);
}

// The recorder's note of the modules at work: few texts, each of them in thousands of events.
memory::StackId Records::stack_of_place(base::StringId note) {
  const auto [known, is_new] = places_.try_emplace(note, memory::kNoStack);
  if (!is_new) return known->second;
  std::string_view text = strings_.entries()[note].raw;
  if (!text.starts_with(memory::kPlaceMark)) return memory::kNoStack;
  text.remove_prefix(memory::kPlaceMark.size());
  std::vector<std::string> names;
  while (true) {
    const std::size_t end = text.find(memory::kPlaceBetween);
    names.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + memory::kPlaceBetween.size());
  }
  frames_.clear();
  for (std::size_t i = names.size(); i-- > 0;) {
    frames_.push_back(stacks.frame({.name = strings_.intern(names[i], offset_)}));
  }
  return places_[note] = stacks.stack(frames_);
}

std::uint16_t Records::pool_of(const Cell& given) {
  const Cell cell = values_.now(given);
  memory::PoolId id;
  if (cell.tag == Tag::kPair) {
    if (cell.bits == 0) return 0;
    id = {static_cast<std::int64_t>(cell.bits >> 32),
          static_cast<std::int64_t>(cell.bits & 0xffffffff)};
  } else if (cell.tag == Tag::kList && values_.at(cell).cells.size() == 2) {
    const std::vector<Cell>& both = values_.at(cell).cells;
    const auto first = whole(both[0]);
    const auto second = whole(both[1]);
    if (!first || !second) return memory::kUnknownPool;
    id = {*first, *second};
  } else {
    return memory::kUnknownPool;
  }
  const auto found = pool_ids_.find(id);
  if (found != pool_ids_.end()) return found->second;
  if (pools.size() >= memory::kUnknownPool) {
    log_.add(Note::kIncompleteRecord, offset_, "more than 65 thousand pools");
    return memory::kUnknownPool;
  }
  const auto index = static_cast<std::uint16_t>(pools.size());
  pools.push_back(id);
  pool_ids_.emplace(id, index);
  return index;
}

void Records::take_event(std::span<const Cell> members, std::uint64_t keys, EventRows& rows) {
  Event event;
  base::StringId action = base::kNoString;
  each_known(members, [&](Word key, const Cell& value) {
    switch (key) {
      case Word::kAction:
        if (value.tag == Tag::kText) action = value.id();
        break;
      case Word::kAddr:
      case Word::kAddress:
      case Word::kDeviceFree:
        event.address = address(value).value_or(0);
        break;
      case Word::kSize:
        event.size = number(value);
        break;
      case Word::kStream:
        event.stream = static_cast<std::int64_t>(address(value).value_or(0));
        break;
      case Word::kTimeUs:
        event.time = time_of(value);
        break;
      case Word::kFrames:
        event.stack = stack_of(value);
        break;
      case Word::kForwardFrames:
        event.forward = stack_of(value);
        break;
      case Word::kPoolId:
      case Word::kSegmentPoolId:
        event.pool = pool_of(value);
        break;
      case Word::kUserMetadata:
        event.note = text_id(value);
        break;
      case Word::kInternalMetadata:
        if (event.note == base::kNoString) event.note = text_id(value);
        break;
      case Word::kCompileContext:
        event.compile_context = text_id(value);
        break;
      default:
        break;
    }
  });
  if (event.stack == memory::kNoStack && event.note != base::kNoString) {
    event.stack = stack_of_place(event.note);
  }
  event.action = action_of(action);
  if (event.action == Action::kUnknown) {
    log_.add(Note::kUnknownAction, offset_,
             strings_.entries()[std::min<std::size_t>(action, strings_.entries().size() - 1)].raw);
    if (event.note == base::kNoString) event.note = action;
  }
  constexpr std::uint64_t kPlace =
      bit_of(Word::kAddr) | bit_of(Word::kAddress) | bit_of(Word::kDeviceFree);
  if ((keys & kPlace) == 0 || (keys & bit_of(Word::kSize)) == 0) {
    log_.add(Note::kIncompleteRecord, offset_, "an event without address or size");
  }
  rows.add(event);
}

memory::FrameId Records::take_frame(const Container& dict) {
  memory::Frame frame;
  each_known(dict.cells, [&](Word key, const Cell& value) {
    if (key == Word::kName && value.tag == Tag::kText) frame.name = value.id();
    if (key == Word::kFilename && value.tag == Tag::kText) frame.file = value.id();
    if (key == Word::kLine) {
      const std::int64_t line = whole(value).value_or(0);
      frame.line = line >= 0 && line <= std::numeric_limits<std::int32_t>::max()
                       ? static_cast<std::int32_t>(line)
                       : 0;
    }
  });
  return stacks.frame(frame);
}

memory::Block Records::take_block(const Container& dict) {
  memory::Block block;
  each_known(dict.cells, [&](Word key, const Cell& value) {
    if (key == Word::kAddress || key == Word::kAddr) block.address = address(value).value_or(0);
    if (key == Word::kSize) block.size = number(value);
    if (key == Word::kRequestedSize || key == Word::kRealSize) block.requested = number(value);
    if (key == Word::kState && value.tag == Tag::kText) block.state = state_of(value.id());
    if (key == Word::kFrames) block.stack = stack_of(value);
    // torch up to 2.0: who had it, the last of them first.
    if (key == Word::kHistory && value.tag == Tag::kBlocks) {
      const std::vector<memory::Block>& past = blocks[value.bits];
      if (past.empty()) return;
      block.stack = past.front().stack;
      block.requested = past.front().requested;
    }
  });
  if (block.state == BlockState::kInactive) block.requested = 0;
  return block;
}

RawSegment Records::take_segment(const Container& dict) {
  RawSegment draft;
  memory::Segment& segment = draft.segment;
  each_known(dict.cells, [&](Word key, const Cell& value) {
    switch (key) {
      case Word::kDevice:
        segment.device = static_cast<std::int32_t>(whole(value).value_or(0));
        break;
      case Word::kAddress:
      case Word::kAddr:
        segment.address = address(value).value_or(0);
        break;
      case Word::kTotalSize:
        segment.total = number(value);
        break;
      case Word::kAllocatedSize:
        segment.allocated = number(value);
        break;
      case Word::kActiveSize:
        segment.active = number(value);
        break;
      case Word::kRequestedSize:
        segment.requested = number(value);
        break;
      case Word::kStream:
        segment.stream = static_cast<std::int64_t>(address(value).value_or(0));
        break;
      case Word::kSegmentType:
        segment.is_large = value.tag != Tag::kText || value.bits != id_of(Word::kSmall);
        break;
      case Word::kSegmentPoolId:
      case Word::kPoolId:
        segment.pool = pool_of(value);
        break;
      case Word::kIsExpandable:
        segment.is_expandable = whole(value).value_or(0) != 0;
        break;
      case Word::kFrames:
        segment.stack = stack_of(value);
        break;
      case Word::kBlocks:
        if (value.tag == Tag::kBlocks) draft.blocks = std::move(blocks[value.bits]);
        break;
      default:
        break;
    }
  });
  // Blocks lie one after the other; torch up to 2.0 left their addresses out.
  std::uint64_t next = segment.address;
  for (memory::Block& block : draft.blocks) {
    if (block.address == 0) block.address = next;
    next = block.address + static_cast<std::uint64_t>(block.size);
  }
  return draft;
}

memory::Annotation Records::take_annotation(const Container& dict) {
  memory::Annotation annotation;
  each_known(dict.cells, [&](Word key, const Cell& value) {
    if (key == Word::kName && value.tag == Tag::kText) annotation.name = value.id();
    if (key == Word::kDevice) {
      annotation.device = static_cast<std::int32_t>(whole(value).value_or(0));
    }
    if (key == Word::kTimeUs) annotation.time = time_of(value);
    if (key == Word::kStage) annotation.is_start = value.bits != id_of(Word::kEnd);
  });
  return annotation;
}

namespace {

constexpr std::size_t kMostText = 4096;
constexpr int kDeepestText = 6;

void write_text(const Values& values, const base::StringPool& strings, const Cell& given, int depth,
                std::string& text) {
  if (text.size() > kMostText || depth > kDeepestText) {
    if (!text.ends_with("…")) text += "…";
    return;
  }
  const Cell cell = values.now(given);
  switch (cell.tag) {
    case Tag::kNone:
      text += "None";
      break;
    case Tag::kBool:
      text += cell.bits != 0 ? "True" : "False";
      break;
    case Tag::kInt:
      text += fmt::format("{}", static_cast<std::int64_t>(cell.bits));
      break;
    case Tag::kUnsigned:
      text += fmt::format("{}", cell.bits);
      break;
    case Tag::kReal:
      text += fmt::format("{}", std::bit_cast<double>(cell.bits));
      break;
    case Tag::kText:
      text += strings.entries()[cell.id()].raw.substr(0, kMostText);
      break;
    case Tag::kPair:
      text += fmt::format("({}, {})", cell.bits >> 32, cell.bits & 0xffffffff);
      break;
    case Tag::kList:
    case Tag::kDict: {
      const bool dict = cell.tag == Tag::kDict;
      const std::vector<Cell>& cells = values.at(cell).cells;
      text += dict ? '{' : '[';
      for (std::size_t i = 0; i < cells.size() && text.size() <= kMostText; ++i) {
        if (i > 0) text += dict && i % 2 == 1 ? ": " : ", ";
        write_text(values, strings, cells[i], depth + 1, text);
      }
      text += dict ? '}' : ']';
      break;
    }
    default:
      text += "…";
      break;
  }
}

}  // namespace

std::string Records::text_of(const Cell& cell) const {
  std::string text;
  write_text(values_, strings_, cell, 0, text);
  return text;
}

}  // namespace stepscope::ingest::pickle
