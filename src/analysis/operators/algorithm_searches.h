// Calls of convolutions that tried out algorithms. Definition: docs/metrics/autotuning.md.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

// A call that starts so many kernels, of so many names, searches.
struct SearchLimits {
  std::int64_t kernels = 16;
  std::int64_t kinds = 6;
};

struct AlgorithmSearch {
  const WindowView* window = nullptr;
  trace::Row row = trace::kNoRow;  // of the call
  std::int64_t kernels = 0, kinds = 0;
  base::Nanos span = 0, device = 0;
};

struct Searches {
  std::int64_t calls = 0;  // of convolutions that started kernels
  std::vector<AlgorithmSearch> list;
};

Searches searches_of(const WindowView& window, const SearchLimits& limits = {});

}  // namespace stepscope::analysis
