// Stretches of a text that come again and again, chosen so that what joining them saves is large
// and no place is counted twice. Which stretches are looked at and how they are chosen is said in
// docs/metrics/patterns.md; the same input gives the same choice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepscope::analysis {

struct RepeatText {
  std::vector<std::uint32_t> symbols;
  // What is saved by joining this symbol to the one before it.
  std::vector<std::int64_t> joining;
  std::uint32_t names = 0;   // symbols from here on come once each: nothing reaches over them
  std::uint32_t breaks = 0;  // how many of those
};

struct Repeat {
  struct Place {
    std::uint32_t first = 0, count = 0;  // symbols
  };
  std::uint32_t length = 0;    // symbols of the stretch; 1: one symbol, any number of times
  std::uint32_t in_a_row = 0;  // the most that follow each other directly
  std::int64_t saves = 0;
  std::vector<Place> places;  // ascending, not overlapping
};

struct RepeatLimits {
  std::uint32_t longest = 32;   // symbols of a stretch, 2 or more
  std::uint32_t min_count = 2;  // places a stretch must have
  std::size_t top = 20;         // stretches; 0: all
};

// In the order they were chosen.
std::vector<Repeat> find_repeats(const RepeatText& text, const RepeatLimits& limits);

// All places of a text in the order of what stands there, compared over a limited number of
// symbols. Equal stretches stand side by side in it, so every repeat is a range of it. Prefix
// doubling with counting sorts: n log depth, 20 bytes a symbol while it works.

struct SuffixOrder {
  std::vector<std::uint32_t> at;      // places, by the symbols from there on; equal ones by place
  std::vector<std::uint32_t> common;  // with the one before: equal symbols, `depth` at most
};

// Symbols are below `symbols`; what is past the end is smaller than any of them.
SuffixOrder order_suffixes(std::span<const std::uint32_t> text, std::uint32_t symbols,
                           std::uint32_t depth);

}  // namespace stepscope::analysis
