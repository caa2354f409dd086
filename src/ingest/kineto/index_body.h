// The part of index building that is the same everywhere. Included by one source file per
// instruction set, each compiled with its own flags: therefore everything here is static, and no
// library function is used that could leave code for one machine in a program for another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingest/kineto/index.h"

namespace stepscope::ingest::kineto {
namespace {

// What the 64 bytes of a word are, as found by the machine-specific classify().
struct Masks {
  std::uint64_t quote, colon;
  std::uint64_t separator;    // , and :
  std::uint64_t open, close;  // { [ and } ]
  std::uint64_t curly;        // of open and close: the braces
  std::uint64_t space;        // blank, tab, line feed, carriage return
  std::uint64_t control;      // below 0x20, the spaces among them too
  std::uint64_t foreign;      // what may stand in strings only
  std::uint64_t letter;       // of true, false and null, but not e, which numbers have too
  std::uint64_t odd;          // backslashes and bytes beyond ASCII
};

// Carried from one word to the next; each is 0 or 1, but for in_string.
struct Carry {
  std::uint64_t in_string = 0;  // all ones inside a string
  std::uint64_t escaped = 0;    // the first byte of the next word is escaped
  std::uint64_t value = 0;   // the last byte that was not space ended a value (or was part of one)
  std::uint64_t open = 0;    // the last byte was an opening bracket
  std::uint64_t scalar = 0;  // the last byte belonged to a number or word
  std::uint64_t close_quote = 0;  // the last byte closed a string
};

// Characters that a run of backslashes escapes: those after an odd number of them.
inline std::uint64_t escaped_by(std::uint64_t backslash, std::uint64_t& carry) {
  constexpr std::uint64_t kEven = 0x5555555555555555;
  backslash &= ~carry;
  const std::uint64_t follows = backslash << 1 | carry;
  const std::uint64_t odd_starts = backslash & ~kEven & ~follows;
  std::uint64_t even_ends = 0;
  carry = __builtin_add_overflow(odd_starts, backslash, &even_ends) ? 1 : 0;
  const std::uint64_t invert = even_ends << 1;
  return (kEven ^ invert) & follows;
}

// Of the bytes that are not space, those whose predecessor (not counting space) is in `from`, for
// machines without instructions that squeeze bits together: adding a run's first bit to the run
// carries a one to the byte after it.
inline std::uint64_t behind_by_adding(std::uint64_t from, std::uint64_t solid,
                                      std::uint64_t& carry) {
  const std::uint64_t space = ~solid;
  // A carry stands for a predecessor just before the word.
  const std::uint64_t next = from << 1 | carry;
  std::uint64_t sum = 0;
  const bool over = __builtin_add_overflow(next & space, space, &sum);
  carry = over || (from >> 63) != 0 ? 1 : 0;
  return (next | sum) & solid;
}

inline bool is_letter(char c) {
  return c == 't' || c == 'r' || c == 'u' || c == 'f' || c == 'a' || c == 'l' || c == 's' ||
         c == 'n';
}

inline bool continues_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' ||
         c == 'E';
}

inline bool is_literal(const char* at) {
  const auto is = [&](const char* word, int size) {
    for (int i = 0; i < size; ++i) {
      if (at[i] != word[i]) return false;
    }
    return !continues_word(at[size]);
  };
  return is("true", 4) || is("null", 4) || is("false", 5);
}

// Words (runs of characters that are part of a number, true, false or null) that are none of these:
// their first byte, or the first letter after something else (-nan). `letters` and `scalar` are
// the word's; the byte before `text` can be read where it belongs to the first run.
inline std::uint64_t bad_words(const char* text, std::uint64_t letters, std::uint64_t scalar,
                               std::uint64_t continues) {
  const std::uint64_t before = (continues & 1) != 0 && !is_letter(text[-1]) ? 1 : 0;
  std::uint64_t bad = letters & ((scalar & ~letters) << 1 | before);
  for (std::uint64_t starts = letters & ~continues; starts != 0; starts &= starts - 1) {
    const int bit = __builtin_ctzll(starts);
    if (!is_literal(text + bit)) bad |= std::uint64_t{1} << bit;
  }
  return bad;
}

// The set bits of `hits`, counted from `at`. Writes eight without asking how many there are: what
// is too much is overwritten by the next word's.
inline void write_places_one_by_one(std::uint64_t hits, std::uint32_t at, std::uint32_t* places) {
  const int found = __builtin_popcountll(hits);
  for (int k = 0; k < 8; ++k) {
    places[k] = at + static_cast<std::uint32_t>(hits == 0 ? 0 : __builtin_ctzll(hits));
    hits &= hits - 1;
  }
  for (int k = 8; k < found; ++k) {
    places[k] = at + static_cast<std::uint32_t>(__builtin_ctzll(hits));
    hits &= hits - 1;
  }
}

// One word: fills its entries, adds its places, returns where it is not well-formed.
// Always inline: its constants must stay in registers from word to word.
template <class Machine>
[[gnu::always_inline]] inline std::uint64_t add_word(const char* text, std::size_t at,
                                                     std::size_t word, Carry& carry,
                                                     std::int32_t& balance, std::uint64_t& any_odd,
                                                     std::uint32_t*& places, Index& out) {
  const Masks m = Machine::classify(text);
  std::uint64_t quote = m.quote;
  if ((m.odd | carry.escaped) != 0) {
    quote &= ~escaped_by(Machine::backslashes(text), carry.escaped);
    any_odd = 1;
  }
  const std::uint64_t in_string = Machine::prefix_xor(quote) ^ carry.in_string;
  carry.in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
  const std::uint64_t outside = ~in_string;
  const std::uint64_t close_quote = quote & outside;
  const std::uint64_t separator = m.separator & outside;
  const std::uint64_t open = m.open & outside;
  const std::uint64_t close = m.close & outside;
  const std::uint64_t solid = ~(m.space & outside);
  const std::uint64_t scalar = outside & solid & ~(m.quote | separator | open | close);
  const std::uint64_t after_close_quote = close_quote << 1 | carry.close_quote;
  carry.close_quote = close_quote >> 63;
  const std::uint64_t continues = scalar << 1 | carry.scalar;
  carry.scalar = scalar >> 63;
  const std::uint64_t key_colon = m.colon & after_close_quote;

  const std::uint64_t after_open = open << 1 | carry.open;
  carry.open = open >> 63;

  // Well-formed? Nothing foreign outside strings, no control character inside; a colon only right
  // after a string; after a value only a separator or a closing bracket, and these nowhere else,
  // but for the bracket that closes right where it opened; every word a known one.
  const std::uint64_t after_value =
      Machine::behind(close_quote | close | scalar, solid, carry.value);
  const std::uint64_t follower = separator | close;
  std::uint64_t fault = (m.foreign & outside) | (m.control & in_string) |
                        (m.colon & outside & ~after_close_quote) |
                        (after_value & ~(follower | (scalar & continues))) |
                        (follower & ~(after_value | (close & after_open)));
  if ((m.letter & outside) != 0) fault |= bad_words(text, m.letter & outside, scalar, continues);

  const std::uint64_t brackets = (open | close) & ~m.curly;
  const std::uint64_t open_brackets = open & ~m.curly;
  out.quotes[word] = quote;
  out.odd[word] = m.odd;
  out.brackets[word] = brackets;
  out.open_brackets[word] = open_brackets;
  out.balance[word] = balance;
  balance += 2 * __builtin_popcountll(open_brackets) - __builtin_popcountll(brackets);

  std::uint64_t hits = key_colon | ((open | close) & m.curly);
  if (fault != 0) hits &= (fault & (~fault + 1)) - 1;
  Machine::write_places(hits, static_cast<std::uint32_t>(at), places);
  places += __builtin_popcountll(hits);
  return fault;
}

template <class Machine>
inline void build(const char* text, std::size_t size, Index& out) {
  Carry carry;
  std::uint32_t* places = out.places.data();
  std::uint64_t any_odd = 0;
  std::int32_t balance = 0;
  std::size_t word = 0;
  std::size_t at = 0;
  std::uint64_t fault = 0;
  for (; at + 64 <= size && fault == 0; at += 64, ++word) {
    fault = add_word<Machine>(text + at, at, word, carry, balance, any_odd, places, out);
  }
  if (at < size && fault == 0) {
    // After the window there is nothing but space.
    char last[1 + 64 + 8];
    last[0] = text[static_cast<std::ptrdiff_t>(at) - 1];
    for (std::size_t i = 1; i < sizeof(last); ++i) {
      last[i] = at + i - 1 < size ? text[at + i - 1] : ' ';
    }
    fault = add_word<Machine>(last + 1, at, word, carry, balance, any_odd, places, out);
    at += 64;
    ++word;
  }
  out.sound = fault == 0 ? size : at - 64 + static_cast<std::size_t>(__builtin_ctzll(fault));
  out.count = static_cast<std::size_t>(places - out.places.data());
  out.any_odd = any_odd != 0;
  out.quotes[word] = out.odd[word] = out.brackets[word] = out.open_brackets[word] = 0;
  out.balance[word] = balance;
}

}  // namespace
}  // namespace stepscope::ingest::kineto
