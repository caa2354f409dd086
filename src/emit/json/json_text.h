// Writes JSON: strings, numbers and the members of objects, appended to a text.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/units.h"

namespace stepscope::emit {

// How far a text goes on without anything a JSON string must treat: quotes, backslashes, control
// characters and bytes above ASCII. Eight bytes at a time, in plain integer arithmetic.

inline bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// The number of plain characters from `at` on.
inline std::size_t plain_run(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHigh = 0x8080808080808080ULL;
  std::size_t i = at;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof(word));
    // The high bit of a byte is set where the byte is zero after the xor, below 0x20 or not ASCII.
    // A borrow can set it too, but only above a byte where it is set rightly: the lowest is true.
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t slash = word ^ (kOnes * '\\');
    const std::uint64_t special = (((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) |
                                   ((word - kOnes * 0x20) & ~word) | word) &
                                  kHigh;
    if (special == 0) continue;
    if constexpr (std::endian::native != std::endian::little) break;
    return i - at + static_cast<std::size_t>(std::countr_zero(special)) / 8;
  }
  while (i < text.size() && is_plain(text[i])) ++i;
  return i - at;
}

// In quotes; escaped where JSON wants it, bytes that are not UTF-8 replaced by U+FFFD.
void append_string(std::string& out, std::string_view text);

void append_integer(std::string& out, std::int64_t value);
void append_integer(std::string& out, std::uint64_t value);

// As a string from 2^53 on: readers that keep numbers in doubles would lose the last digits.
void append_exact(std::string& out, std::int64_t value);
void append_exact(std::string& out, std::uint64_t value);

// The shortest text that reads back as the same value; what JSON cannot say becomes a string.
void append_float(std::string& out, float value);
void append_float(std::string& out, double value);

// Microseconds with three decimals, as Kineto writes times: exact.
void append_micros(std::string& out, base::Nanos time);

// The members of one object. Keys are ours and need no escaping.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  // Starts a member; its value is appended to what this returns.
  std::string& key(std::string_view key) {
    next() += '"';
    out_ += key;
    out_ += "\":";
    return out_;
  }
  // Starts a member whose key the caller writes too.
  std::string& next() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_string(key(name), value); }
  template <std::integral Int>
  void integer(std::string_view name, Int value) {
    if constexpr (std::signed_integral<Int>) {
      append_exact(key(name), static_cast<std::int64_t>(value));
    } else {
      append_exact(key(name), static_cast<std::uint64_t>(value));
    }
  }
  // Left out when not given: -1, or NaN.
  void id(std::string_view name, std::int64_t value) {
    if (value != -1) integer(name, value);
  }
  template <std::floating_point Float>
  void number(std::string_view name, Float value) {
    if (!std::isnan(value)) append_float(key(name), value);
  }
  std::string& value() { return out_; }  // the one being written
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

// The elements of one array.
class Elements {
 public:
  explicit Elements(std::string& out) : out_(out) { out_ += '['; }
  std::string& next() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }
  void close() { out_ += ']'; }

 private:
  std::string& out_;
  bool first_ = true;
};

// The small pieces of JSON text: blanks, numbers, escapes, and words that are none of them.

inline std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    ++at;
  }
  return at;
}

// Where a word without quotes ends: "N/A", "NaN", true, and every number. `at` itself when what
// stands there cannot be part of one.
std::size_t word_end(std::string_view text, std::size_t at);

// A number as JSON has it, true, false or null.
bool is_json_word(std::string_view word);

// A word as a JSON value that a reader takes for the same: itself when it is JSON; a number in
// JSON's spelling; a string for "N/A" and its like; null for what must not be taken for a number.
std::string json_of_word(std::string_view word);

// Where a string stands decides what may follow it.
enum class Place : std::uint8_t { kKey, kMember, kListItem };

// The position of the quote that closes the string which begins at `at`, or the end of the text.
// Some writers do not escape quotes: a quote that cannot be the end of its string is part of it.
std::size_t string_end(std::string_view text, std::size_t at, Place place);

// Can a string end before `at`, going by what follows?
bool may_end_before(std::string_view text, std::size_t at, Place place);

struct Escape {
  std::size_t size;  // of what stands there
  bool valid;
  std::string_view instead;  // the same meaning in valid JSON, when it is not
};
// The escape whose backslash is at `at`.
Escape escape_at(std::string_view text, std::size_t at);

// Arguments that the model keeps as text: for them a word without quotes is nothing, and must not
// become a string.
bool is_kept_as_text(std::string_view key);

// Arguments of which the model keeps the JSON itself: what operators were called with.
bool is_kept_whole(std::string_view key);

}  // namespace stepscope::emit
