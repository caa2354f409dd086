// How far a text goes on without anything a JSON string must treat: quotes, backslashes, control
// characters and bytes above ASCII. Eight bytes at a time, in plain integer arithmetic.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope::emit {

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

}  // namespace stepscope::emit
