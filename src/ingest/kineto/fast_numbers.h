// Numbers of the ordinary form, eight digits at a time. Whatever is not ordinary (exponents, more
// than three decimals, more than 18 digits, text) is left to numbers.h.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/units.h"

namespace stepscope::ingest::kineto {

// A number that was read and the place behind it; nullptr if it was not of the ordinary form.
struct FastNumber {
  std::int64_t value;
  const char* next;
};

namespace fast {

inline std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// How many of the eight bytes are digits, from the first one on.
inline unsigned digits_in(std::uint64_t word) {
  const std::uint64_t x = word ^ 0x3030303030303030;
  const std::uint64_t others = ((x + 0x7676767676767676) | x) & 0x8080808080808080;
  return others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
}

// The value of eight digits, the first in the lowest byte.
inline std::uint64_t eight(std::uint64_t word) {
  word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return (word & 0x0000ffff0000ffff) * 42949672960001 >> 32;
}

inline constexpr std::uint64_t kTens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

// The value of the first `count` < 8 digits of the word: zeros are put before them.
inline std::uint64_t some(std::uint64_t word, unsigned count) {
  return count == 0 ? 0 : eight(word << (64 - 8 * count));
}

// Digits at `at`, at most 24 of them; `at` moves behind them, `count` says how many.
inline std::uint64_t whole(const char*& at, unsigned& count) {
  std::uint64_t value = 0;
  count = 0;
  while (count <= 16) {
    const std::uint64_t word = load(at);
    const unsigned digits = digits_in(word);
    if (digits == 8) {
      value = value * 100000000 + eight(word);
      at += 8;
      count += 8;
      continue;
    }
    value = value * kTens[digits] + some(word, digits);
    at += digits;
    count += digits;
    break;
  }
  return value;
}

inline bool ends_number(char c) {
  return c == ',' || c == '}' || c == '\n' || c == ' ' || c == ']' || c == '\r' || c == '\t';
}

}  // namespace fast

inline FastNumber fast_integer(const char* at) {
  const bool negative = *at == '-';
  at += negative;
  unsigned digits = 0;
  const auto value = static_cast<std::int64_t>(fast::whole(at, digits));
  if (digits == 0 || digits > 18 || !fast::ends_number(*at)) return {0, nullptr};
  return {negative ? -value : value, at};
}

// Decimal microseconds with at most three decimals, as nanoseconds.
inline FastNumber fast_time(const char* at) {
  const bool negative = *at == '-';
  at += negative;
  unsigned digits = 0;
  std::uint64_t value = fast::whole(at, digits);
  if (digits == 0 || digits > 15) {
    // Up to 16 digits of microseconds are today's absolute times; with three decimals they still
    // fit, but must be below the range that numbers.h allows.
    if (digits != 16 || value > 4600000000000000) return {0, nullptr};
  }
  std::uint64_t decimals = 0;
  if (*at == '.') {
    const std::uint64_t word = fast::load(at + 1);
    const unsigned count = fast::digits_in(word);
    if (count == 0 || count > 3) return {0, nullptr};
    decimals = fast::some(word, count) * fast::kTens[3 - count];
    at += 1 + count;
  }
  if (!fast::ends_number(*at)) return {0, nullptr};
  const auto ns = static_cast<std::int64_t>(value * 1000 + decimals);
  return {negative ? -ns : ns, at};
}

}  // namespace stepscope::ingest::kineto
