// The opcodes that are rare, and those that fill containers.

#include <bit>
#include <charconv>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/utf8.h"
#include "ingest/pickle/machine.h"
#include "ingest/pickle/opcodes.h"
#include "ingest/pickle/words.h"

namespace stepscope::ingest::pickle {
namespace {

using base::Code;
using base::Note;

constexpr int kNewestProtocol = 5;
constexpr std::size_t kMostCells = std::size_t{1} << 22;

template <class T>
T read_at(const char*& at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

// Protocol 0 writes text in Python's raw-unicode-escape: Latin-1, and backslash u for the rest.
std::string from_raw_unicode(std::string_view raw) {
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t digits = raw[i] != '\\' || i + 1 == raw.size() ? 0
                               : raw[i + 1] == 'u'                   ? 4
                               : raw[i + 1] == 'U'                   ? 8
                                                                     : 0;
    std::uint32_t point = static_cast<unsigned char>(raw[i]);
    if (digits > 0 && i + 2 + digits <= raw.size()) {
      const char* const first = raw.data() + i + 2;
      const auto result = std::from_chars(first, first + digits, point, 16);
      if (result.ec == std::errc() && result.ptr == first + digits && point <= 0x10ffff) {
        i += 1 + digits;
      } else {
        point = '\\';
      }
    }
    base::append_utf8(text, point);
  }
  return text;
}

}  // namespace

Machine::State Machine::step(unsigned char opcode) {
  switch (static_cast<Op>(opcode)) {
    case Op::kProto:
      protocol_ = read_at<std::uint8_t>(feed_.at);
      if (protocol_ <= kNewestProtocol) return State::kGoing;
      return fail(Code::kUnsupported,
                  fmt::format("{}: pickle protocol {}; 0 to {} are known", feed_.source().name(),
                              protocol_, kNewestProtocol));
    case Op::kFrame:  // a hint for readers that want to know how much comes
      feed_.at += 8;
      return State::kGoing;
    case Op::kReadonlyBuffer:
      return State::kGoing;
    case Op::kNone:
      push({});
      return State::kGoing;
    case Op::kNewTrue:
      push({Tag::kBool, 1});
      return State::kGoing;
    case Op::kNewFalse:
      push({Tag::kBool, 0});
      return State::kGoing;
    case Op::kBinFloat: {
      auto bits = read_at<std::uint64_t>(feed_.at);
      bits = __builtin_bswap64(bits);  // the one number that is most significant byte first
      push({Tag::kReal, bits});
      return State::kGoing;
    }
    case Op::kPop:
      // As Python does: a mark on top goes first.
      if (!values_.marks.empty() && values_.marks.back() == values_.stack.size()) {
        values_.marks.pop_back();
      } else if (holds(1)) {
        values_.stack.pop_back();
      } else {
        return bad("POP from an empty stack");
      }
      return State::kGoing;
    case Op::kPopMark:
      if (values_.marks.empty()) return bad("POP_MARK without MARK");
      values_.stack.resize(values_.marks.back());
      values_.marks.pop_back();
      return State::kGoing;
    case Op::kDup:
      if (!holds(1)) return bad("DUP of nothing");
      if (values_.stack.back().is_slot()) values_.at(values_.stack.back()).shared = true;
      push(values_.stack.back());
      return State::kGoing;
    default:
      return step_text(opcode);
  }
}

Machine::State Machine::step_text(unsigned char opcode) {
  switch (static_cast<Op>(opcode)) {
    case Op::kShortBinString:
    case Op::kShortBinBytes:
      return text(read_at<std::uint8_t>(feed_.at), true);
    case Op::kBinString:
    case Op::kBinBytes:
      return text(read_at<std::uint32_t>(feed_.at), true);
    case Op::kBinUnicode8:
    case Op::kBinBytes8:
    case Op::kByteArray8:
      return text(read_at<std::uint64_t>(feed_.at), true);
    case Op::kLong4:
      return integer(read_at<std::uint32_t>(feed_.at));
    case Op::kInt:
    case Op::kLong:
    case Op::kFloat:
    case Op::kString:
    case Op::kUnicode:
    case Op::kGet:
    case Op::kPut:
      return step_line(opcode);
    default:
      return step_container(opcode);
  }
}

// Protocol 0: arguments are lines of text.
Machine::State Machine::step_line(unsigned char opcode) {
  std::string words;
  if (!line(words)) return feed_.error() != nullptr ? State::kFailed : State::kCut;
  opcode_at_ = feed_.at;  // the window may have moved
  std::string_view word = words;
  switch (static_cast<Op>(opcode)) {
    case Op::kInt:
    case Op::kLong: {
      if (opcode == static_cast<unsigned char>(Op::kInt) && (word == "00" || word == "01")) {
        push({Tag::kBool, word == "01" ? 1u : 0u});
        return State::kGoing;
      }
      if (word.ends_with('L')) word.remove_suffix(1);
      const auto value = base::parse_number<std::int64_t>(word);
      std::uint64_t large = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), large);
      if (value) {
        push(Cell::integer(*value));
      } else if (error == std::errc() && end == word.data() + word.size()) {
        push({Tag::kUnsigned, large});
      } else {
        push({Tag::kHuge, 0});
      }
      return State::kGoing;
    }
    case Op::kFloat: {
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() && error != std::errc::result_out_of_range) {
        return bad("a float that is no number");
      }
      push(Cell::real(value));
      return State::kGoing;
    }
    case Op::kString:
      if (word.size() < 2 || word.front() != word.back()) return bad("a string without quotes");
      push(Cell::text(strings_.intern(word.substr(1, word.size() - 2), 0)));
      return State::kGoing;
    case Op::kUnicode:
      push(Cell::text(strings_.intern(from_raw_unicode(word), 0)));
      return State::kGoing;
    default: {
      const auto index = base::parse_number<std::int64_t>(word);
      if (!index || *index < 0) return bad("a memo index that is no number");
      const auto place = static_cast<std::uint64_t>(*index);
      return static_cast<Op>(opcode) == Op::kGet ? fetch(place) : memoize(place);
    }
  }
}

Machine::State Machine::step_container(unsigned char opcode) {
  switch (static_cast<Op>(opcode)) {
    case Op::kAppend:
      return append_one();
    case Op::kSetItem:
      return set_one();
    case Op::kAddItems:
      return append_items();
    case Op::kEmptyTuple:
    case Op::kEmptySet:
      push(values_.make(Tag::kList));
      return State::kGoing;
    case Op::kTuple:
    case Op::kList:
    case Op::kFrozenSet:
      return collect(Tag::kList);
    case Op::kDict:
      return collect(Tag::kDict);
    case Op::kTuple1:
      return tuple(1);
    case Op::kTuple2:
      return tuple(2);
    case Op::kTuple3:
      return tuple(3);
    default:
      break;
  }
  if (!name_of_refused(opcode).empty()) return refused(opcode);
  return bad(fmt::format("0x{:02x} is no opcode", opcode));
}

Machine::State Machine::append_items() {
  if (values_.marks.empty()) return bad("APPENDS without MARK");
  const std::size_t first = values_.marks.back();
  values_.marks.pop_back();
  if (first < floor() + 1) return bad("APPENDS without a list");
  const Cell list = values_.now(values_.stack[first - 1]);
  if (list.tag == Tag::kList) {
    records_.at_offset(feed_.offset());
    records_.append(list, std::span(values_.stack).subspan(first));
  } else if (list.tag != Tag::kHusk) {
    return bad("APPENDS to something that is no list, or is in use already");
  }
  values_.stack.resize(first);
  return State::kGoing;
}

Machine::State Machine::append_one() {
  if (!holds(2)) return bad("APPEND without a list");
  const Cell item = values_.stack.back();
  values_.stack.pop_back();
  const Cell list = values_.now(values_.stack.back());
  if (list.tag == Tag::kHusk) return State::kGoing;
  if (list.tag != Tag::kList) {
    return bad("APPEND to something that is no list, or is in use already");
  }
  records_.at_offset(feed_.offset());
  records_.append(list, std::span(&item, 1));
  return State::kGoing;
}

// Moves the pairs from `first` on into the dictionary; false where there is no dictionary.
bool Machine::set_members(const Cell& dict, std::size_t first) {
  std::uint64_t keys = 0;
  for (std::size_t i = first; i + 1 < values_.stack.size(); i += 2) {
    const Cell& key = values_.stack[i];
    if (key.tag == Tag::kText && key.bits < id_of(Word::kKeys))
      keys |= std::uint64_t{1} << key.bits;
    if (values_.stack[i + 1].is_slot()) {
      values_.stack[i + 1] = records_.settle_member(key, values_.stack[i + 1]);
    }
  }
  Container& container = values_.at(dict);
  container.keys |= keys;
  if (values_.held() > kMostCells && container.keys == 0) {
    log_.add(Note::kUnknownValue, feed_.offset(), "in a dictionary");
  } else {
    values_.add(container, values_.stack.data() + first,
                values_.stack.data() + values_.stack.size());
  }
  values_.stack.resize(first);
  return true;
}

Machine::State Machine::set_items() {
  if (values_.marks.empty()) return bad("SETITEMS without MARK");
  const std::size_t first = values_.marks.back();
  values_.marks.pop_back();
  if (first < floor() + 1) return bad("SETITEMS without a dictionary");
  if ((values_.stack.size() - first) % 2 != 0) return bad("SETITEMS with a key without a value");
  const Cell dict = values_.now(values_.stack[first - 1]);
  if (dict.tag == Tag::kHusk) {
    values_.stack.resize(first);
    return State::kGoing;
  }
  if (dict.tag != Tag::kDict) {
    return bad("SETITEMS of something that is no dictionary, or is in use already");
  }
  records_.at_offset(feed_.offset());
  set_members(dict, first);
  // A whole event does not wait for the list it goes into: some writers fill that only at its end.
  // The list lies below the mark if all between are events; a list of one event has no mark.
  if ((values_.at(dict).keys & bit_of(Word::kAction)) != 0 && !values_.marks.empty()) {
    const std::size_t mark = values_.marks.back();
    const bool follows = mark + 1 == first || values_.stack[first - 2].tag == Tag::kEvent;
    if (mark > 0 && mark < first && follows) {
      const Cell list = values_.now(values_.stack[mark - 1]);
      if (list.tag == Tag::kList && records_.settle_event(dict, list)) {
        values_.stack.back() = {Tag::kEvent, list.bits};
      }
    }
  }
  return State::kGoing;
}

Machine::State Machine::set_one() {
  if (!holds(3)) return bad("SETITEM without a dictionary");
  const std::size_t first = values_.stack.size() - 2;
  const Cell dict = values_.now(values_.stack[first - 1]);
  if (dict.tag == Tag::kHusk) {
    values_.stack.resize(first);
    return State::kGoing;
  }
  if (dict.tag != Tag::kDict) {
    return bad("SETITEM of something that is no dictionary, or is in use already");
  }
  records_.at_offset(feed_.offset());
  set_members(dict, first);
  return State::kGoing;
}

// Everything above the last mark as one new container.
Machine::State Machine::collect(Tag tag) {
  if (values_.marks.empty()) return bad("a container without MARK");
  const std::size_t first = values_.marks.back();
  values_.marks.pop_back();
  const Cell made = values_.make(tag);
  records_.at_offset(feed_.offset());
  if (tag == Tag::kDict) {
    if ((values_.stack.size() - first) % 2 != 0) return bad("DICT with a key without a value");
    set_members(made, first);
  } else {
    records_.append(made, std::span(values_.stack).subspan(first));
    values_.stack.resize(first);
  }
  push(made);
  return State::kGoing;
}

Machine::State Machine::tuple(std::size_t count) {
  if (!holds(count)) return bad("a tuple of more values than there are");
  const std::size_t first = values_.stack.size() - count;
  const auto is_small = [](const Cell& cell) {
    return cell.tag == Tag::kInt && cell.bits <= 0xffffffff;
  };
  Cell made;
  if (count == 2 && is_small(values_.stack[first]) && is_small(values_.stack[first + 1])) {
    made = {Tag::kPair, values_.stack[first].bits << 32 | values_.stack[first + 1].bits};
  } else {
    made = values_.make(Tag::kList);
    records_.at_offset(feed_.offset());
    records_.append(made, std::span(values_.stack).subspan(first));
  }
  values_.stack.resize(first);
  push(made);
  return State::kGoing;
}

// The file ended: closes what is open, as its writer would have.
void Machine::close_all() {
  records_.at_offset(feed_.offset());
  while (!values_.marks.empty()) {
    const std::size_t first = values_.marks.back();
    values_.marks.pop_back();
    const Cell below = first > 0 ? values_.now(values_.stack[first - 1]) : Cell{};
    if (below.tag == Tag::kDict) {
      close_dict(first);
    } else if (below.tag == Tag::kList) {
      records_.append(below, std::span(values_.stack).subspan(first));
    }
    values_.stack.resize(first);
  }
  if (values_.stack.size() > 1 && values_.now(values_.stack[0]).tag == Tag::kDict) close_dict(1);
}

// Keys and values alternate, but after a list its only item may lie, not yet appended.
void Machine::close_dict(std::size_t first) {
  const Cell dict = values_.now(values_.stack[first - 1]);
  values_.at(dict).cut = true;
  Cell last;
  for (std::size_t i = first; i + 1 < values_.stack.size() || last.tag == Tag::kList;) {
    if (i >= values_.stack.size()) break;
    const Cell key = values_.now(values_.stack[i]);
    if (last.tag == Tag::kList && key.is_slot()) {
      records_.append(last, std::span(&key, 1));
      ++i;
      continue;
    }
    if (i + 1 >= values_.stack.size()) break;
    const Cell value = records_.settle_member(key, values_.stack[i + 1]);
    Container& container = values_.at(dict);
    if (key.tag == Tag::kText && key.bits < id_of(Word::kKeys)) {
      container.keys |= std::uint64_t{1} << key.bits;
    }
    const Cell pair[] = {key, value};
    values_.add(container, pair, pair + 2);
    last = value;
    i += 2;
  }
}

}  // namespace stepscope::ingest::pickle
