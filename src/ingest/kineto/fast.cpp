#include "ingest/kineto/fast.h"

#include <algorithm>
#include <bit>

#include "ingest/kineto/fast_numbers.h"
#include "ingest/kineto/scanner.h"
#include "ingest/kineto/stager.h"

namespace stepscope::ingest::kineto {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The value behind a key's closing quote and colon.
const char* value_behind(const char* quote) {
  const char* at = quote + 2;
  if (*at == ' ') ++at;
  while (is_space(*at)) ++at;
  return at;
}

// Phases that need nothing but what this scanner collects.
bool is_plain_phase(char phase) {
  return phase == 'X' || phase == 'i' || phase == 's' || phase == 'f' || phase == 't' ||
         phase == 'B' || phase == 'E';
}

}  // namespace

const char* FastScanner::scan(const char* at, const Stretch& stretch) {
  const char* behind = at;
  while (true) {
    const std::size_t size = std::min(static_cast<std::size_t>(stretch.end - at), kWindowBytes);
    window_ = at;
    build_index_(at, size, *index_);
    std::size_t place = 0;
    while (place < index_->count) {
      const std::uint32_t begin = index_->places[place];
      draft_.reset(static_cast<std::uint32_t>(window_ + begin - stretch.begin));
      const Met met = event(place);
      if (met == Met::kStrange) return behind;
      if (met == Met::kWindowEnd) break;
      const std::uint32_t end = index_->places[place - 1] + 1;
      if (!is_sound(begin, end)) return behind;
      if (index_->any_odd && has_odd(begin, end)) {
        note_faults(window_ + begin, window_ + end, draft_.text_at, lane_);
      }
      stage(draft_, lane_);
      behind = window_ + end;
      // On to the next event, if nothing but a comma stands between.
      const char* next = behind;
      while (is_space(*next)) ++next;
      if (*next != ',' || next >= stretch.end) return behind;
      ++next;
      while (is_space(*next)) ++next;
      if (*next != '{' || next >= stretch.end) return behind;
      at = next;
    }
    // The window ended inside an event: the next one begins with it. If this one did too, the event
    // is too long for a window; and text that is not sound is the careful reader's.
    if (at == window_ || index_->sound < size) return behind;
  }
}

bool FastScanner::is_sound(std::uint32_t begin, std::uint32_t end) const {
  return end <= index_->sound && balance_at(begin) == balance_at(end);
}

std::int32_t FastScanner::balance_at(std::uint32_t offset) const {
  const std::uint32_t word = offset / 64;
  const std::uint64_t below = (std::uint64_t{1} << (offset % 64)) - 1;
  return index_->balance[word] + 2 * std::popcount(index_->open_brackets[word] & below) -
         std::popcount(index_->brackets[word] & below);
}

bool FastScanner::has_odd(std::uint32_t begin, std::uint32_t end) const {
  std::uint64_t odd = 0;
  for (std::uint32_t word = begin / 64; word <= (end - 1) / 64; ++word) odd |= index_->odd[word];
  return odd != 0;
}

// Visits the places of one event, from its opening brace on. `place` ends up behind its last one.
FastScanner::Met FastScanner::event(std::size_t& place) {
  int depth = 0;
  bool in_args = false;
  args_next_ = false;
  std::size_t at = place;
  while (at < index_->count) {
    const std::uint32_t offset = index_->places[at++];
    const char c = window_[offset];
    if (c == '"') {
      if (depth == 1) {
        if (!field(offset)) return Met::kStrange;
      } else if (depth == 2 && in_args) {
        if (!argument(offset)) return Met::kStrange;
      }
    } else if (c == '{') {
      ++depth;
      if (depth == 2) in_args = args_next_;
      args_next_ = false;
    } else {
      if (--depth == 0) {
        place = at;
        return is_plain_phase(draft_.phase) ? Met::kEvent : Met::kStrange;
      }
    }
  }
  return Met::kWindowEnd;
}

// A string or an ordinary number at `at`; its end is looked up, not searched.
bool FastScanner::text_value(const char* at, Token& token) const {
  if (*at == '"') {
    const auto open = static_cast<std::uint32_t>(at - window_);
    std::uint32_t word = open / 64;
    if (word >= kWindowWords) return false;
    // Two shifts: one by 64 is not defined.
    std::uint64_t quotes = index_->quotes[word] >> (open % 64) >> 1 << 1 << (open % 64);
    while (quotes == 0) {
      if (++word >= kWindowWords || static_cast<std::size_t>(word) * 64 >= index_->sound) return false;
      quotes = index_->quotes[word];
    }
    const char* const close = window_ + word * 64 + std::countr_zero(quotes);
    token = {TokenType::kString, {at + 1, static_cast<std::size_t>(close - at - 1)}};
    return true;
  }
  const char* end = at + (*at == '-' ? 1 : 0);
  while (*end >= '0' && *end <= '9') ++end;
  if (end == at || !fast::ends_number(*end)) return false;
  token = {TokenType::kNumber, {at, static_cast<std::size_t>(end - at)}};
  return true;
}

// A key of the event itself. False for whatever is better read carefully.
bool FastScanner::field(std::uint32_t quote) {
  const char* const at = value_behind(window_ + quote);
  const Field field = field_before(window_ + quote);
  switch (field) {
    case Field::kTime: {
      const FastNumber time = fast_time(at);
      if (time.next == nullptr) return false;
      draft_.time = time.value;
      draft_.has_time = true;
      return true;
    }
    case Field::kDuration: {
      const FastNumber time = fast_time(at);
      if (time.next == nullptr) return false;
      draft_.duration = time.value;
      draft_.has_duration = true;
      return true;
    }
    case Field::kPhase:
      if (at[0] != '"' || at[2] != '"' || at[1] == '\\') return false;
      draft_.phase = at[1];
      return true;
    case Field::kArgs:
      args_next_ = *at == '{';
      return true;
    case Field::kNone:
      return !index_->any_odd || !key_is_escaped(quote);
    default: {
      Token token{};
      if (!text_value(at, token)) return false;
      set_field(draft_, field, token);
      return true;
    }
  }
}

bool FastScanner::argument(std::uint32_t quote) {
  const Arg arg = arg_before(window_ + quote);
  if (arg == Arg::kNone) return !index_->any_odd || !key_is_escaped(quote);
  const char* const at = value_behind(window_ + quote);
  const ArgType type = type_of(arg);
  if (type == ArgType::kInteger) {
    const FastNumber number = fast_integer(at);
    if (number.next != nullptr) {
      draft_.set_integer(arg, number.value);
      return true;
    }
    // "Python parent id" of a root is null.
    if (*at == 'n') {
      set_arg(draft_, arg, {TokenType::kNull, {}});
      return true;
    }
  }
  Token token{};
  if (*at == '[') {
    // Lists worth reading are short and hold no lists or strings: the first bracket ends them.
    const char* end = at + 1;
    while (*end != ']' && *end != '[' && *end != '"' && *end != '\0') ++end;
    if (*end != ']') return false;
    token = {TokenType::kArray, {at, static_cast<std::size_t>(end + 1 - at)}};
  } else if (type == ArgType::kReal) {
    const char* end = at;
    while (!fast::ends_number(*end) && *end != '\0' && *end != '"') ++end;
    if (*end == '\0' || *end == '"' || end == at) return false;
    token = {TokenType::kNumber, {at, static_cast<std::size_t>(end - at)}};
    if (*at != '-' && (*at < '0' || *at > '9')) return false;
  } else if (!text_value(at, token)) {
    return false;
  }
  set_arg(draft_, arg, token);
  return true;
}

// Whether the key that ends at `quote` is written with escapes, and so is not what it seems.
bool FastScanner::key_is_escaped(std::uint32_t quote) const {
  for (const char* at = window_ + quote - 1; at > window_ && *at != '"'; --at) {
    if (*at == '\\') return true;
  }
  return window_[quote - 1] == '\\';
}

}  // namespace stepscope::ingest::kineto
