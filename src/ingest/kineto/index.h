// Turns a window of JSON text into the few places a trace reader must visit, and proves on the way
// that what lies between them is well-formed. Works on 64 bytes at a time as bit masks; how the
// masks are made depends on the machine, what they mean does not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stepscope::ingest::kineto {

inline constexpr std::size_t kWindowBytes = std::size_t{32} << 10;
inline constexpr std::size_t kWindowWords = kWindowBytes / 64;

// Bit i of a word stands for byte i of its 64.
struct Index {
  // Offsets of the colons after keys and of braces, outside strings.
  std::array<std::uint32_t, kWindowBytes + 64> places;
  std::size_t count = 0;
  // Everything before this offset is well-formed; it is the window's size if all of it is.
  std::size_t sound = 0;
  bool any_odd = false;  // is any bit of `odd` set?

  std::array<std::uint64_t, kWindowWords + 1> quotes;         // unescaped
  std::array<std::uint64_t, kWindowWords + 1> odd;            // backslashes and bytes beyond ASCII
  std::array<std::uint64_t, kWindowWords + 1> brackets;       // [ and ] outside strings
  std::array<std::uint64_t, kWindowWords + 1> open_brackets;  // of these, the [
  std::array<std::int32_t, kWindowWords + 1> balance;         // [ minus ] before each word
};

// Indexes [text, text + size), size <= kWindowBytes; text begins outside any string. 64 bytes
// before and after must be readable.
using BuildIndex = void (*)(const char* text, std::size_t size, Index& out);

// The fastest one this machine can run. All of them give the same result.
BuildIndex best_build_index();

// The candidates, for tests; nullptr where the machine or the build lacks one.
void build_index_portable(const char* text, std::size_t size, Index& out);
BuildIndex build_index_avx2();
BuildIndex build_index_avx512();
BuildIndex build_index_neon();

}  // namespace stepscope::ingest::kineto
