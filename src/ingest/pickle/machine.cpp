// Runs the data opcodes of a pickle and refuses all others.
#include "ingest/pickle/machine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "ingest/damage.h"
#include "ingest/pickle/opcodes.h"
#include "ingest/pickle/words.h"

namespace stepscope::ingest::pickle {
namespace {

using base::Code;
using base::Note;

constexpr std::uint64_t kLongestText = std::uint64_t{16} << 20;

}  // namespace

Machine::Machine(std::unique_ptr<bytes::ByteSource> source, const ReadOptions& options)
    : feed_(std::move(source), options.block_bytes),
      options_(options),
      records_(values_, strings_, log_) {
  for (const std::string_view word : kWords) strings_.intern(word, 0);
}

base::Result<Cell> Machine::run() {
  const State state = loop();
  if (feed_.error() != nullptr) return base::Failure{*feed_.error()};
  if (state == State::kFailed) return base::Failure{error_};
  const std::uint64_t end = feed_.offset();
  // A damaged stream may have ended early, and a whole pickle may lie in a damaged one.
  if (state == State::kStopped) feed_.skip(std::numeric_limits<std::uint64_t>::max());
  if (feed_.error() != nullptr) return base::Failure{*feed_.error()};
  note_damage(feed_.source(), log_);
  if (state == State::kCut) {
    log_.add(Note::kTruncated, end);
    close_all();
  }
  if (values_.stack.empty()) {
    return base::fail(Code::kFormat, fmt::format("{}: the pickle ends before it holds anything",
                                                 feed_.source().name()));
  }
  return values_.now(state == State::kCut ? values_.stack.front() : values_.stack.back());
}

template <class T>
T Machine::take() {
  T value;
  std::memcpy(&value, feed_.at, sizeof(T));  // pickles are little-endian, as we are
  feed_.at += sizeof(T);
  return value;
}

Machine::State Machine::loop() {
  static_assert(std::endian::native == std::endian::little);
  while (true) {
    if (feed_.end - feed_.at < static_cast<std::ptrdiff_t>(Feed::kSlack)) [[unlikely]] {
      if (!feed_.at_end()) {
        if (!feed_.fill(Feed::kSlack)) return State::kFailed;
        if (const State state = housekeeping(); state != State::kGoing) return state;
      }
      if (feed_.at == feed_.end) return State::kCut;
      const std::size_t needed = 1 + argument_bytes(static_cast<unsigned char>(*feed_.at));
      if (static_cast<std::size_t>(feed_.end - feed_.at) < needed) return State::kCut;
    }
    opcode_at_ = feed_.at;
    const auto opcode = static_cast<unsigned char>(*feed_.at++);
    State state = State::kGoing;
    switch (static_cast<Op>(opcode)) {
      case Op::kMark:
        values_.marks.push_back(values_.stack.size());
        known_run();
        break;
      case Op::kBinGet:
        state = fetch(take<std::uint8_t>());
        break;
      case Op::kLongBinGet:
        state = fetch(take<std::uint32_t>());
        break;
      case Op::kMemoize:
        state = memoize(values_.memo_count());
        break;
      case Op::kBinPut:
        state = memoize(take<std::uint8_t>());
        break;
      case Op::kLongBinPut:
        state = memoize(take<std::uint32_t>());
        break;
      case Op::kBinInt:
        push(Cell::integer(take<std::int32_t>()));
        break;
      case Op::kBinInt1:
        push(Cell::integer(take<std::uint8_t>()));
        break;
      case Op::kBinInt2:
        push(Cell::integer(take<std::uint16_t>()));
        break;
      case Op::kLong1:
        state = integer(take<std::uint8_t>());
        break;
      case Op::kShortBinUnicode:
        state = text(take<std::uint8_t>(), true);
        break;
      case Op::kBinUnicode:
        state = text(take<std::uint32_t>(), true);
        break;
      case Op::kEmptyDict:
        if (!known_event()) push(values_.make(Tag::kDict));
        break;
      case Op::kEmptyList:
        push(values_.make(Tag::kList));
        break;
      case Op::kSetItems:
        state = set_items();
        break;
      case Op::kAppends:
        state = append_items();
        if (run_mark_ != 0) state = learn_run(state);
        break;
      case Op::kStop:
        return values_.stack.empty() ? bad("STOP without a value") : State::kStopped;
      default:
        state = step(opcode);
        break;
    }
    if (state != State::kGoing) [[unlikely]]
      return state;
  }
}

// Once per window of the file.
Machine::State Machine::housekeeping() {
  if (options_.stop != nullptr && options_.stop->load()) return fail(Code::kCancelled, "stopped");
  if (options_.progress) options_.progress(feed_.source().file_position());
  const std::uint64_t held =
      values_.memory() + records_.memory() + strings_.memory() + runs_.memory();
  if (held > options_.max_memory_bytes) {
    return fail(Code::kLimit, fmt::format("{}: needs more memory than the limit of {} MiB",
                                          feed_.source().name(), options_.max_memory_bytes >> 20));
  }
  return State::kGoing;
}

Machine::State Machine::memoize(std::uint64_t index) {
  if (!holds(1)) return bad("nothing to remember");
  values_.put(index, values_.stack.back());
  return State::kGoing;
}

Machine::State Machine::fetch(std::uint64_t index) {
  Cell cell;
  if (!values_.get(index, cell)) return bad("refers to something that was not remembered");
  push(cell);
  return State::kGoing;
}

Machine::State Machine::integer(std::uint64_t length) {
  if (length > Feed::kSlack) {
    if (feed_.skip(length) < length) return State::kCut;
    push({Tag::kHuge, 0});
    return State::kGoing;
  }
  if (static_cast<std::uint64_t>(feed_.end - feed_.at) < length) {
    if (!feed_.fill(length)) return State::kFailed;
    if (static_cast<std::uint64_t>(feed_.end - feed_.at) < length) return State::kCut;
  }
  push(integer_of({feed_.at, length}));
  feed_.at += length;
  return State::kGoing;
}

Machine::State Machine::text(std::uint64_t length, bool keep) {
  if (length > kLongestText) {
    if (feed_.skip(length) < length) return State::kCut;
    log_.add(Note::kUnknownValue, feed_.offset(), fmt::format("a text of {} bytes", length));
    push({Tag::kHusk, 0});
    return State::kGoing;
  }
  if (static_cast<std::uint64_t>(feed_.end - feed_.at) < length) {
    if (!feed_.fill(length)) return State::kFailed;
    if (static_cast<std::uint64_t>(feed_.end - feed_.at) < length) return State::kCut;
  }
  const std::string_view raw(feed_.at, length);
  push(keep ? Cell::text(strings_.intern(raw, 0)) : Cell{Tag::kHusk, 0});
  feed_.at += length;
  return State::kGoing;
}

// The rest of a line, for the opcodes of protocol 0.
bool Machine::line(std::string& into) {
  constexpr std::size_t kLongestLine = 1u << 20;
  into.clear();
  while (into.size() < kLongestLine) {
    if (feed_.at == feed_.end && (!feed_.fill(1) || feed_.at == feed_.end)) return false;
    const auto left = static_cast<std::size_t>(feed_.end - feed_.at);
    const auto* const found = static_cast<const char*>(std::memchr(feed_.at, '\n', left));
    const char* const stop = found == nullptr ? feed_.end : found;
    into.append(feed_.at, stop);
    feed_.at = stop;
    if (found == nullptr) continue;
    ++feed_.at;
    if (into.ends_with('\r')) into.pop_back();
    return true;
  }
  return false;
}

Machine::State Machine::fail(Code code, std::string what) {
  error_ = {code, std::move(what)};
  return State::kFailed;
}

Machine::State Machine::bad(std::string_view what) {
  const std::uint64_t offset = feed_.offset() - static_cast<std::uint64_t>(feed_.at - opcode_at_);
  return fail(Code::kFormat,
              fmt::format("{}:{}: not a valid pickle: {}", feed_.source().name(), offset, what));
}

Machine::State Machine::refused(unsigned char opcode) {
  const std::uint64_t offset = feed_.offset() - static_cast<std::uint64_t>(feed_.at - opcode_at_);
  return fail(Code::kUnsupported,
              fmt::format("{}:{}: this pickle wants to run code (opcode {}); a memory snapshot is "
                          "plain data, so it was refused and nothing was executed",
                          feed_.source().name(), offset, name_of_refused(opcode)));
}

}  // namespace stepscope::ingest::pickle
