// What occurs a million times in a snapshot, taken in at one go instead of opcode by opcode.

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/pickle/machine.h"
#include "ingest/pickle/opcodes.h"
#include "ingest/pickle/words.h"

namespace stepscope::ingest::pickle {
namespace {

template <class T>
T number_at(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

}  // namespace

// Nearly all of a file are events that look alike: EMPTY_DICT, MEMOIZE, MARK, keys that are
// fetched, values that are numbers, fetched or a known run, SETITEMS. Such a one is taken in at one
// go, with the same outcome as step by step: its dictionary and its list are never made. Anything
// else is left to the steps, from the beginning of the event on.
bool Machine::known_event() {
  constexpr std::ptrdiff_t kMember = 512;  // a key and a value take less, but for a stack
  constexpr std::size_t kMostMembers = 48;
  const char* at = feed_.at;
  if (feed_.end - at < 2 * kMember || at[0] != static_cast<char>(Op::kMemoize) ||
      at[1] != static_cast<char>(Op::kMark) || values_.marks.empty() ||
      !values_.memo().is_dense()) {
    return false;
  }
  const std::size_t mark = values_.marks.back();
  if (mark == 0 || values_.stack[mark - 1].tag != Tag::kList) return false;
  const Cell list = values_.stack[mark - 1];
  const Container& container = values_.at(list);
  const bool follows = values_.stack.size() == mark || values_.stack.back().tag == Tag::kEvent;
  if (!follows || container.settled || container.holds != Holds::kEvents) return false;
  at += 2;
  members_.clear();
  remembered_.clear();
  std::uint64_t keys = 0;
  while (*at != static_cast<char>(Op::kSetItems)) {
    Cell key, value;
    if (feed_.end - at < kMember || members_.size() >= kMostMembers || !fetched(at, key) ||
        key.tag != Tag::kText || !known_value(at, key, value)) {
      return false;
    }
    if (key.bits < id_of(Word::kKeys)) keys |= std::uint64_t{1} << key.bits;
    members_.push_back(key);
    members_.push_back(value);
  }
  constexpr std::uint64_t kEventKeys = bit_of(Word::kAction) | bit_of(Word::kSize);
  if ((keys & kEventKeys) != kEventKeys) return false;
  feed_.at = at + 1;
  records_.at_offset(feed_.offset());
  values_.remember(records_.add_event(list, members_, keys));
  for (const Cell& cell : remembered_) values_.remember(cell);
  push({Tag::kEvent, list.bits});
  return true;
}

// What BINGET or LONG_BINGET fetches; false for other opcodes, and for a container that is open.
bool Machine::fetched(const char*& at, Cell& cell) const {
  std::uint64_t index = 0;
  if (*at == static_cast<char>(Op::kBinGet)) {
    index = static_cast<unsigned char>(at[1]);
    at += 2;
  } else if (*at == static_cast<char>(Op::kLongBinGet)) {
    index = number_at<std::uint32_t>(at + 1);
    at += 5;
  } else {
    return false;
  }
  return values_.memo().get(index, cell) && !cell.is_slot();
}

bool Machine::known_value(const char*& at, const Cell& key, Cell& value) {
  switch (static_cast<Op>(*at)) {
    case Op::kBinGet:
    case Op::kLongBinGet:
      return fetched(at, value);
    case Op::kBinInt1:
      value = Cell::integer(number_at<std::uint8_t>(at + 1));
      at += 2;
      if (static_cast<Op>(*at) == Op::kBinInt1) return known_pair(at, value);
      return true;
    case Op::kBinInt2:
      value = Cell::integer(number_at<std::uint16_t>(at + 1));
      at += 3;
      return true;
    case Op::kBinInt:
      value = Cell::integer(number_at<std::int32_t>(at + 1));
      at += 5;
      return true;
    case Op::kLong1: {
      const std::size_t length = number_at<std::uint8_t>(at + 1);
      value = integer_of({at + 2, length});
      at += 2 + length;
      return true;
    }
    case Op::kEmptyList: {
      const bool is_stack =
          key.bits == id_of(Word::kFrames) || key.bits == id_of(Word::kForwardFrames);
      if (!is_stack || at[1] != static_cast<char>(Op::kMemoize) ||
          at[2] != static_cast<char>(Op::kMark)) {
        return false;
      }
      const memory::StackId stack = next_stack(at += 3);
      if (stack == memory::kNoStack) return false;
      value = {Tag::kStack, stack};
      remembered_.push_back(value);
      return true;
    }
    default:
      return false;
  }
}

// The rest of a tuple of two small numbers, of which the first is read: the id of a pool.
bool Machine::known_pair(const char*& at, Cell& value) {
  if (static_cast<Op>(at[2]) != Op::kTuple2 || static_cast<Op>(at[3]) != Op::kMemoize) return false;
  value = {Tag::kPair, value.bits << 32 | number_at<std::uint8_t>(at + 1)};
  remembered_.push_back(value);
  at += 4;
  return true;
}

// Where fetches that follow each other end, if APPENDS is next; null where they do not, or where
// they are so few that nothing is saved.
const char* Machine::run_end(const char* at) const {
  const char* const first = at;
  const char* const stop = feed_.end - Feed::kSlack / 2;  // never within the last bytes of a file
  while (at < stop) {
    if (*at == static_cast<char>(Op::kLongBinGet)) {
      at += 5;
    } else if (*at == static_cast<char>(Op::kBinGet)) {
      at += 2;
    } else {
      break;
    }
  }
  constexpr std::ptrdiff_t kShortest = 8;
  const bool ends = at < stop && *at == static_cast<char>(Op::kAppends);
  return ends && at - first >= kShortest ? at : nullptr;
}

// Returns the stack of the run that begins here and moves past its APPENDS; kNoStack if unknown.
// A program does the same over and over: what came after the run before is looked for first.
memory::StackId Machine::next_stack(const char*& at) {
  const base::StringId guess =
      last_run_ < next_runs_.size() ? next_runs_[last_run_] : base::kNoString;
  if (guess != base::kNoString && values_.memo().replaced() == replaced_) {
    const std::string_view run = runs_.entries()[guess].raw;
    if (static_cast<std::size_t>(feed_.end - at) > run.size() + Feed::kSlack &&
        std::memcmp(at, run.data(), run.size()) == 0 &&
        at[run.size()] == static_cast<char>(Op::kAppends)) {
      at += run.size() + 1;
      last_run_ = guess;
      return run_stacks_[guess];
    }
  }
  const char* const end = run_end(at);
  if (end == nullptr) return memory::kNoStack;
  const memory::StackId stack = known_stack({at, static_cast<std::size_t>(end - at)});
  at = end + 1;
  if (next_runs_.size() <= std::max(last_run_, run_id_)) {
    next_runs_.resize(std::max(last_run_, run_id_) + 1, base::kNoString);
  }
  next_runs_[last_run_] = run_id_;
  last_run_ = run_id_;
  return stack;
}

// The stack these bytes were found to fetch; kNoStack where that is not known yet.
memory::StackId Machine::known_stack(std::string_view run) {
  if (values_.memo().replaced() != replaced_) {
    replaced_ = values_.memo().replaced();
    std::ranges::fill(run_stacks_, memory::kNoStack);
  }
  run_id_ = runs_.intern(run, 0);
  if (run_id_ == run_stacks_.size()) run_stacks_.push_back(memory::kNoStack);
  return run_stacks_[run_id_];
}

// Most stacks have been met before, in a list of their own that fetches the same frames: MARK, a
// run of BINGET and LONG_BINGET, APPENDS. As long as no entry of the memo is replaced, the same
// bytes fetch the same frames, so the stack is known without fetching them. A run that is not known
// is read as usual; learn_run then looks at what it made.
bool Machine::known_run() {
  run_mark_ = 0;
  const char* const at = run_end(feed_.at);
  if (at == nullptr) return false;
  const std::size_t mark = values_.marks.back();
  if (mark == 0 || values_.stack[mark - 1].tag != Tag::kList) return false;
  const Cell list = values_.stack[mark - 1];
  const Container& container = values_.at(list);
  if (container.settled || container.holds != Holds::kCells || !container.cells.empty()) {
    return false;
  }
  const memory::StackId stack = known_stack({feed_.at, static_cast<std::size_t>(at - feed_.at)});
  if (stack == memory::kNoStack) {
    run_mark_ = mark;
    return false;
  }
  records_.hold_stack(list, stack);
  values_.marks.pop_back();
  feed_.at = at + 1;
  return true;
}

Machine::State Machine::learn_run(State state) {
  const std::size_t mark = std::exchange(run_mark_, 0);
  if (state == State::kGoing && values_.stack.size() == mark &&
      values_.stack.back().tag == Tag::kList && values_.memo().replaced() == replaced_) {
    const memory::StackId stack = records_.stack_of_frames(values_.stack.back());
    run_stacks_[run_id_] = stack;
  }
  return state;
}

}  // namespace stepscope::ingest::pickle
