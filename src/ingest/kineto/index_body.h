// The part of index building that is the same everywhere. Included by one source file per
// instruction set, each compiled with its own flags: therefore everything here is static, and no
// library function is used that could leave code for one machine in a program for another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingest/kineto/index.h"

namespace stepscope::ingest::kineto {
namespace {

// What the 64 bytes of a word are, as told by the machine-specific classify().
struct Masks {
  std::uint64_t quote, backslash, comma, colon;
  std::uint64_t open, close;   // { [ and } ]
  std::uint64_t curly;         // of open and close: the braces
  std::uint64_t space;         // blank, tab, line feed, carriage return
  std::uint64_t control;       // below 0x20, the spaces among them too
  std::uint64_t foreign;       // what may stand in strings only
  std::uint64_t letter;        // 0x40 and above, without the high bytes
  std::uint64_t high;          // 0x80 and above
};

// Carried from one word to the next.
struct Carry {
  std::uint64_t in_string = 0;   // all ones inside a string
  std::uint64_t escaped = 0;     // 1: the first byte of the next word is escaped
  std::uint64_t after_value = 0;  // 1: the last byte was (the end of) a value, or space behind one
  std::uint64_t value_run = 0;
  std::uint64_t after_separator = 0;
  std::uint64_t separator_run = 0;
  std::uint64_t scalar = 0;       // 1: the last byte belonged to a number or word
  std::uint64_t close_quote = 0;  // 1: the last byte closed a string
};

// Characters that a run of backslashes escapes: those behind an odd number of them.
inline std::uint64_t escaped_by(std::uint64_t backslash, std::uint64_t& carry) {
  if (backslash == 0) {
    const std::uint64_t escaped = carry;
    carry = 0;
    return escaped;
  }
  constexpr std::uint64_t kEven = 0x5555555555555555;
  backslash &= ~carry;
  const std::uint64_t follows = backslash << 1 | carry;
  const std::uint64_t odd_starts = backslash & ~kEven & ~follows;
  std::uint64_t even_ends = 0;
  carry = __builtin_add_overflow(odd_starts, backslash, &even_ends) ? 1 : 0;
  const std::uint64_t invert = even_ends << 1;
  return (kEven ^ invert) & follows;
}

// The first bytes behind `from` that are not space: those right behind it, and those behind the runs
// of spaces that begin there. Adding a run's first bit to the run carries a one to its end.
inline std::uint64_t behind(std::uint64_t from, std::uint64_t space, std::uint64_t& from_carry,
                            std::uint64_t& run_carry) {
  const std::uint64_t next = from << 1 | from_carry;
  from_carry = from >> 63;
  std::uint64_t sum = 0;
  const bool over_1 = __builtin_add_overflow(next & space, space, &sum);
  const bool over_2 = __builtin_add_overflow(sum, run_carry, &sum);
  run_carry = over_1 || over_2 ? 1 : 0;
  return (next & ~space) | (sum & ~space);
}

inline bool is_literal(const char* at) {
  const auto is = [&](const char* word, int size) {
    for (int i = 0; i < size; ++i) {
      if (at[i] != word[i]) return false;
    }
    return true;
  };
  return is("true", 4) || is("null", 4) || is("false", 5);
}

template <class Machine>
inline void build(const char* text, std::size_t size, Index& out) {
  Carry carry;
  std::uint32_t* places = out.places.data();
  std::uint64_t any_odd = 0;
  std::int32_t balance = 0;
  std::size_t word = 0;
  out.sound = size;
  for (std::size_t at = 0; at < size; at += 64, ++word) {
    Masks m = Machine::classify(text + at);
    if (size - at < 64) {
      // Behind the window there is nothing but space.
      const std::uint64_t valid = (std::uint64_t{1} << (size - at)) - 1;
      m.quote &= valid;
      m.backslash &= valid;
      m.comma &= valid;
      m.colon &= valid;
      m.open &= valid;
      m.close &= valid;
      m.control &= valid;
      m.foreign &= valid;
      m.high &= valid;
      m.space |= ~valid;
    }
    const std::uint64_t quote = m.quote & ~escaped_by(m.backslash, carry.escaped);
    const std::uint64_t in_string = Machine::prefix_xor(quote) ^ carry.in_string;
    carry.in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
    const std::uint64_t outside = ~in_string;
    const std::uint64_t close_quote = quote & outside;
    const std::uint64_t colon = m.colon & outside;
    const std::uint64_t comma = m.comma & outside;
    const std::uint64_t open = m.open & outside;
    const std::uint64_t close = m.close & outside;
    const std::uint64_t space = m.space & outside;
    const std::uint64_t scalar = outside & ~(m.quote | colon | comma | open | close | space);

    // Well-formed? Nothing foreign outside strings, no control character inside; a colon only right
    // behind a string; behind a value only a separator or a closing bracket; behind a separator
    // neither; every word a known one.
    const std::uint64_t after_value =
        behind(close_quote | close | scalar, space, carry.after_value, carry.value_run);
    const std::uint64_t after_separator =
        behind(comma | colon, space, carry.after_separator, carry.separator_run);
    const std::uint64_t continues = scalar << 1 | carry.scalar;
    carry.scalar = scalar >> 63;
    const std::uint64_t after_close_quote = close_quote << 1 | carry.close_quote;
    carry.close_quote = close_quote >> 63;
    std::uint64_t fault = (m.foreign & outside) | (m.control & in_string) |
                          (colon & ~after_close_quote) |
                          (after_value & ~(comma | colon | close | space | (scalar & continues))) |
                          (after_separator & (comma | colon | close));
    for (std::uint64_t words = scalar & ~continues & m.letter; words != 0; words &= words - 1) {
      const int bit = __builtin_ctzll(words);
      if (!is_literal(text + at + bit)) fault |= std::uint64_t{1} << bit;
    }

    const std::uint64_t odd = m.backslash | m.high;
    const std::uint64_t brackets = (open | close) & ~m.curly;
    out.quotes[word] = quote;
    out.odd[word] = odd;
    any_odd |= odd;
    out.brackets[word] = brackets;
    out.open_brackets[word] = brackets & open;
    out.balance[word] = balance;
    balance += 2 * __builtin_popcountll(brackets & open) - __builtin_popcountll(brackets);

    // A colon that opens the next word makes a key of a quote that closes this one.
    const std::uint64_t next_colon = text[at + 64] == ':' ? std::uint64_t{1} << 63 : 0;
    std::uint64_t hits =
        (close_quote & (m.colon >> 1 | next_colon)) | ((open | close) & m.curly);
    if (fault != 0) {
      const int bit = __builtin_ctzll(fault);
      out.sound = at + static_cast<std::size_t>(bit);
      hits &= (std::uint64_t{1} << bit) - 1;
    }
    const int found = __builtin_popcountll(hits);
    // Writes in groups of four without asking how many there are; what is too much is overwritten.
    for (int i = 0; i < found; i += 4) {
      for (int k = 0; k < 4; ++k) {
        places[i + k] = static_cast<std::uint32_t>(at) +
                        static_cast<std::uint32_t>(hits != 0 ? __builtin_ctzll(hits) : 0);
        hits &= hits - 1;
      }
    }
    places += found;
    if (fault != 0) {
      ++word;
      break;
    }
  }
  out.count = static_cast<std::size_t>(places - out.places.data());
  out.any_odd = any_odd != 0;
  out.quotes[word] = 0;
  out.balance[word] = balance;
  out.brackets[word] = out.open_brackets[word] = out.odd[word] = 0;
}

}  // namespace
}  // namespace stepscope::ingest::kineto
