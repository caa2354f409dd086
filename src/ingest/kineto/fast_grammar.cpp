// What the index does not see of an event: keys that are not what they seem, members without a key.

#include <bit>

#include "ingest/kineto/fast.h"
#include "ingest/kineto/fast_numbers.h"

namespace stepscope::ingest::kineto {

using fast::is_space;

// Whether any key of the event is written with escapes, and so is not what it seems.
bool FastScanner::has_escaped_key(std::size_t place, std::size_t end) const {
  for (; place < end; ++place) {
    const char* at = window_ + index_->places[place];
    if (*at != ':') continue;
    at -= 2;
    if (*at == '\\') return true;
    for (; at > window_ && *at != '"'; --at) {
      if (*at == '\\') return true;
    }
    if (at > window_ && at[-1] == '\\') return true;
  }
  return false;
}

// Whether one value follows each key of the event, and none without a key: the reference
// reader takes no other for an event.
bool FastScanner::has_one_value_each(std::size_t place, std::size_t end) const {
  for (++place; place < end; ++place) {
    const char* const before = window_ + index_->places[place - 1];
    const char* at = window_ + index_->places[place];
    if (*at == '{') continue;  // may_open() has looked
    if (*at == ':') {
      at = quote_before(at - 1) - 1;
      while (is_space(*at)) --at;
      if (at == before && *at == '{') continue;
      if (*at != ',') return false;
    }
    if (!ends_value(before, at)) return false;
  }
  return true;
}

// Whether the comma or brace at `stop` is the first thing after the value that `mark` begins (a
// colon) or ends (a brace).
bool FastScanner::ends_value(const char* mark, const char* stop) const {
  const char* last = stop - 1;
  while (is_space(*last)) --last;
  if (*mark != ':') return last == mark;
  const char* const begin = fast::value_behind(mark);
  if (*begin == '[') return closes_list(begin, last);
  if (*begin == '"') {
    Token text{};
    return text_value(begin, text) && text.text.data() + text.text.size() == last;
  }
  const char* end = begin;
  while (!fast::ends_number(*end)) ++end;
  return end - 1 == last;
}

// Whether the list that begins at `open` ends at `close`.
bool FastScanner::closes_list(const char* open, const char* close) const {
  const auto begin = static_cast<std::uint32_t>(open - window_);
  int depth = 0;
  for (std::uint32_t word = begin / 64; word * 64 + window_ <= close; ++word) {
    std::uint64_t brackets = index_->brackets[word];
    if (word == begin / 64) brackets = brackets >> (begin % 64) << (begin % 64);
    for (; brackets != 0; brackets &= brackets - 1) {
      const int bit = std::countr_zero(brackets);
      depth += (index_->open_brackets[word] >> bit & 1) != 0 ? 1 : -1;
      if (depth == 0) return window_ + word * 64 + bit == close;
    }
  }
  return false;
}

}  // namespace stepscope::ingest::kineto
