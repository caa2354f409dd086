// Elementwise kernels, and the reductions between them, that follow each other directly on a stream
// and work on as much: each reads again what another has just written or read, and one kernel for
// all of them would not.
// Definition: docs/metrics/patterns.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

// All chains of the same operators.
struct ElementwiseChain {
  std::string operators;         // that started them, in their order; empty: not recorded
  std::string within;            // the range or module around the first, else empty
  std::uint32_t kernels = 0;     // in each
  std::uint32_t reductions = 0;  // of them
  std::uint64_t count = 0;
  base::Nanos device = 0, gap = 0;
  // That one kernel for each would save: at the least; if it took as long as the longest of them;
  // and as the shortest.
  base::Nanos least = 0, saves = 0, most = 0;
  base::Nanos longest = 0;  // of them, and where it is
  std::uint32_t window = 0;
  std::int64_t step = -1;   // its number; -1: of none
  std::uint32_t event = 0;  // place of its first kernel in the file
};

// `windows` are those of one rank. Those that could save most first.
std::vector<ElementwiseChain> elementwise_chains(std::span<const WindowView> windows);

}  // namespace stepscope::analysis
