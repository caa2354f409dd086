// How many of the first steps are no measure of the rest: compiling, filling caches and queues.
// Definition: docs/metrics/throughput.md.
#pragma once

#include <cstddef>
#include <span>

namespace stepscope::analysis {

struct WarmUpRule {
  std::size_t fewest = 6;     // of fewer lengths none are warm-up: they do not show what is usual
  double least_share = 0.05;  // lengths that differ by less than this are alike
};

// Of lengths in their order; at most a third. What is as frequent later on is no warm-up.
std::size_t warm_up_of(std::span<const double> lengths, const WarmUpRule& rule);

}  // namespace stepscope::analysis
