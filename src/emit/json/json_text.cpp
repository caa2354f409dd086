// Writes JSON text: strings, numbers, times, and the values of arguments.
#include "emit/json/json_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/utf8.h"

namespace stepscope::emit {

namespace {

constexpr std::uint64_t kFirstInexact = std::uint64_t{1} << 53;

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  const std::size_t at = kShort.find(c);
  if (at != std::string_view::npos) {
    out += '\\';
    out += kLetters[at];
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

template <class Float>
void append_shortest(std::string& out, Float value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "{}", value);
  } else {
    out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

template <class Int>
void append_quoted_if(std::string& out, Int value, bool quoted) {
  if (quoted) out += '"';
  append_integer(out, value);
  if (quoted) out += '"';
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t plain = plain_run(text, at);
    out.append(text, at, plain);
    at += plain;
    if (at == text.size()) break;
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x80) {
      append_escaped(out, c);
      ++at;
    } else {
      const base::Utf8 sequence = base::utf8_at(text, at);
      out += sequence.valid ? text.substr(at, sequence.size) : base::kReplacement;
      at += sequence.size;
    }
  }
  out += '"';
}

void append_integer(std::string& out, std::int64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

void append_integer(std::string& out, std::uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

void append_exact(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_quoted_if(out, value, (value < 0 ? std::uint64_t{0} - bits : bits) >= kFirstInexact);
}

void append_exact(std::string& out, std::uint64_t value) {
  append_quoted_if(out, value, value >= kFirstInexact);
}

void append_float(std::string& out, float value) { append_shortest(out, value); }
void append_float(std::string& out, double value) { append_shortest(out, value); }

void append_micros(std::string& out, base::Nanos time) {
  const auto bits = static_cast<std::uint64_t>(time);
  const std::uint64_t magnitude = time < 0 ? std::uint64_t{0} - bits : bits;
  if (time < 0) out += '-';
  append_integer(out, magnitude / 1000);
  const std::uint64_t rest = magnitude % 1000;
  const std::array<char, 4> decimals = {'.', static_cast<char>('0' + rest / 100),
                                        static_cast<char>('0' + rest / 10 % 10),
                                        static_cast<char>('0' + rest % 10)};
  out.append(decimals.data(), decimals.size());
}

namespace {

constexpr std::array kTextKeys = std::to_array<std::string_view>({
    "Call stack",
    "Collective name",
    "In split size",
    "Module Hierarchy",
    "Out split size",
    "Process Group Description",
    "Process Group Name",
    "Process Group Ranks",
    "block",
    "cat",
    "cuda_sync_kind",
    "dtype",
    "grid",
    "id",
    "labels",
    "name",
    "ph",
    "pid",
    "scope",
    "tid",
});

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

bool is_json_number(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  const std::size_t whole = at;
  at = skip_digits(word, at);
  if (at == whole || (at - whole > 1 && word[whole] == '0')) return false;
  if (at < word.size() && word[at] == '.') {
    const std::size_t fraction = at + 1;
    at = skip_digits(word, fraction);
    if (at == fraction) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < word.size() && (word[exponent] == '+' || word[exponent] == '-')) ++exponent;
    at = skip_digits(word, exponent);
    if (at == exponent) return false;
  }
  return at == word.size();
}

constexpr std::array<bool, 256> word_characters() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ+-./_#")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}
constexpr std::array<bool, 256> kWordCharacters = word_characters();

bool is_word_character(char c) { return kWordCharacters[static_cast<unsigned char>(c)]; }

// "007" and "1." are read as numbers but are not JSON.
std::string number_in_json(std::string_view word) {
  std::string number(word.starts_with('-') ? "-" : "");
  std::size_t at = number.size();
  while (at + 1 < word.size() && word[at] == '0' && base::is_digit(word[at + 1])) ++at;
  for (; at < word.size(); ++at) {
    number += word[at];
    if (word[at] == '.' && (at + 1 == word.size() || !base::is_digit(word[at + 1]))) number += '0';
  }
  return number;
}

// Is the quote at `at` the opening quote of a member's name?
bool is_key_at(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && text[at] != '"' && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  if (at >= text.size() || text[at] != '"') return false;
  at = skip_blanks(text, at + 1);
  return at < text.size() && text[at] == ':';
}

}  // namespace

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word_character(text[at])) ++at;
  return at;
}

bool is_json_word(std::string_view word) {
  return is_json_number(word) || word == "true" || word == "false" || word == "null";
}

std::string json_of_word(std::string_view word) {
  if (is_json_word(word)) return std::string(word);
  if (std::string number = number_in_json(word); is_json_number(number)) return number;
  const char first = word[word[0] == '-' && word.size() > 1 ? 1 : 0];
  if (!base::is_letter(first)) return "null";
  std::string quoted;
  append_string(quoted, word);
  return quoted;
}

bool may_end_before(std::string_view text, std::size_t at, Place place) {
  at = skip_blanks(text, at);
  if (at >= text.size()) return true;
  if (place == Place::kKey) return text[at] == ':';
  if (text[at] == '}' || text[at] == ']') return true;
  if (text[at] == '"') return place == Place::kMember && is_key_at(text, at);
  if (text[at] != ',') return false;
  at = skip_blanks(text, at + 1);
  if (at >= text.size()) return true;
  const char c = text[at];
  if (c == '}' || c == ']' || c == ',' || c == '"') return true;
  return place == Place::kListItem && (c == '{' || c == '[' || is_word_character(c));
}

std::size_t string_end(std::string_view text, std::size_t at, Place place) {
  while (true) {
    at += plain_run(text, at);
    if (at >= text.size()) return text.size();
    if (text[at] == '\\') {
      at = std::min(at + 2, text.size());
    } else if (text[at] == '"' && may_end_before(text, at + 1, place)) {
      return at;
    } else {
      ++at;
    }
  }
}

Escape escape_at(std::string_view text, std::size_t at) {
  const char c = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) {
    return {2, true, {}};
  }
  if (const auto unit = base::code_unit_at(text, at + 1)) {
    if (base::is_high_surrogate(*unit) && text.substr(at + 6, 1) == "\\") {
      const auto low = base::code_unit_at(text, at + 7);
      if (low && base::is_low_surrogate(*low)) return {12, true, {}};
    }
    const bool half = base::is_high_surrogate(*unit) || base::is_low_surrogate(*unit);
    return {6, !half, "\\ufffd"};
  }
  return {1, false, "\\\\"};
}

bool is_kept_whole(std::string_view key) {
  return key == "Input Dims" || key == "Input type" || key == "Input Strides" ||
         key == "Concrete Inputs";
}

bool is_kept_as_text(std::string_view key) {
  return std::find(kTextKeys.begin(), kTextKeys.end(), key) != kTextKeys.end();
}

}  // namespace stepscope::emit
