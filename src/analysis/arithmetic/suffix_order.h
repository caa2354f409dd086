// All places of a text in the order of what stands there, compared over a limited number of
// symbols. Equal stretches stand side by side in it, so every repeat is a range of it. Prefix
// doubling with counting sorts: n log depth, 20 bytes a symbol while it works.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepscope::analysis {

struct SuffixOrder {
  std::vector<std::uint32_t> at;      // places, by the symbols from there on; equal ones by place
  std::vector<std::uint32_t> common;  // with the one before: equal symbols, `depth` at most
};

// Symbols are below `symbols`; what is behind the end is smaller than any of them.
SuffixOrder order_suffixes(std::span<const std::uint32_t> text, std::uint32_t symbols,
                           std::uint32_t depth);

}  // namespace stepscope::analysis
