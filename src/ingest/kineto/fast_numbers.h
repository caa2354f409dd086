// Where a value begins and ends, and numbers of the ordinary form, eight digits at a time. Whatever
// is not ordinary (exponents, more than three decimals, more than 18 digits, text) is left to
// numbers.h.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/units.h"

namespace stepscope::ingest::kineto {

// A number that was read and the place after it; nullptr if it was not of the ordinary form.
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

inline constexpr std::uint64_t kTens[] = {1,      10,      100,      1000,     10000,
                                          100000, 1000000, 10000000, 100000000};

// The value of the first `count` digits of the word, at most 8: zeros are put before them.
inline std::uint64_t some(std::uint64_t word, unsigned count) {
  return count == 0 ? 0 : eight(word << (64 - 8 * count));
}
// The same for at most 3.
inline std::uint64_t some_3(std::uint64_t word, unsigned count) {
  word = word << (64 - 8 * count) >> 40 & 0x0f0f0f;
  return (word & 0xff) * 100 + (word >> 8 & 0xff) * 10 + (word >> 16);
}

struct CharacterSet {
  bool has[256] = {};
  constexpr explicit CharacterSet(const char* members) {
    for (; *members != 0; ++members) has[static_cast<unsigned char>(*members)] = true;
  }
  bool operator()(char c) const { return has[static_cast<unsigned char>(c)]; }
};
inline constexpr CharacterSet kEndsNumber{",} \n]\r\t"};
inline constexpr CharacterSet kSpaces{" \n\r\t"};
inline bool ends_number(char c) { return kEndsNumber(c); }
inline bool is_space(char c) { return kSpaces(c); }

// The value after a key's colon.
inline const char* value_behind(const char* colon) {
  const char* at = colon + 1;
  at += *at == ' ' ? 1 : 0;
  while (is_space(*at)) [[unlikely]]
    ++at;
  return at;
}

}  // namespace fast

inline FastNumber fast_integer(const char* at) {
  const bool negative = *at == '-';
  at += negative;
  const std::uint64_t word = fast::load(at);
  const unsigned digits = fast::digits_in(word);
  std::uint64_t value = fast::some(word, digits);
  at += digits;
  if (digits == 8) {
    const std::uint64_t more = fast::load(at);
    const unsigned count = fast::digits_in(more);
    value = value * fast::kTens[count] + fast::some(more, count);
    at += count;
  }
  // What has more than 16 digits is still inside its number here.
  if (digits == 0 || !fast::ends_number(*at)) return {0, nullptr};
  return {negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value), at};
}

// Decimal microseconds with at most three decimals, as nanoseconds. Remembers the first eight
// digits: the times of one recording share them.
class FastTime {
 public:
  FastNumber operator()(const char* at) {
    const bool negative = *at == '-';
    at += negative;
    const std::uint64_t word = fast::load(at);
    std::uint64_t value = 0;
    unsigned digits = 0;
    if (word == known_word_) {
      value = known_value_;
      digits = 8;
    } else {
      digits = fast::digits_in(word);
      value = fast::some(word, digits);
      if (digits == 8) {
        known_word_ = word;
        known_value_ = value;
      }
    }
    at += digits;
    if (digits == 8) {
      const std::uint64_t more = fast::load(at);
      const unsigned count = fast::digits_in(more);
      value = value * fast::kTens[count] + fast::some(more, count);
      at += count;
      // 16 digits of microseconds are today's absolute times; with three decimals they still fit,
      // but must be below the range that numbers.h allows. More digits are its business.
      if (count == 8 && (value > 4600000000000000 || (*at >= '0' && *at <= '9')))
        return {0, nullptr};
    }
    std::uint64_t decimals = 0;
    if (*at == '.') {
      const std::uint64_t word_3 = fast::load(at + 1);
      const unsigned count = fast::digits_in(word_3);
      if (count == 0 || count > 3) return {0, nullptr};
      decimals = fast::some_3(word_3, count) * fast::kTens[3 - count];
      at += 1 + count;
    }
    if (digits == 0 || !fast::ends_number(*at)) return {0, nullptr};
    const auto ns = static_cast<std::int64_t>(value * 1000 + decimals);
    return {negative ? -ns : ns, at};
  }

 private:
  std::uint64_t known_word_ = 0;  // no text: a zero byte is no digit
  std::uint64_t known_value_ = 0;
};

}  // namespace stepscope::ingest::kineto
