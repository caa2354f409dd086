// Hardware counters given to those who used the device: the range profiler's counts by kernel, and
// samples of the whole device by who ran then. Definition: docs/metrics/counters.md.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/view.h"

namespace stepscope::analysis {

enum class CounterOwner : std::uint8_t { kOperator, kOutermost, kKernel };

struct CounterSum {
  double sum = 0;           // of ranges; of samples the part that fell to the owner's kernels
  double weighed = 0;       // samples: value x time
  std::uint64_t count = 0;  // ranges, or kernels that ran while it was sampled
  base::Nanos time = 0;  // of those kernels: of ranges all of it, of samples while it was sampled
  bool has_time = true;  // false: a range of a kernel that is not in the trace
  bool is_sampled = false;

  void merge(const CounterSum& other);
};

// By owner (empty: not known) and counter.
using CounterSums = std::map<std::pair<std::string_view, std::string_view>, CounterSum>;

struct WindowCounters {
  CounterSums ranges, samples;
  std::uint64_t ranges_found = 0, ranges_paired = 0;
  std::uint64_t candidates = 0;  // kernels, or launches where there are no kernels
  bool has_kernels = false;
  std::uint64_t samples_found = 0, samples_idle = 0;
};

WindowCounters count_window(const WindowView& window, CounterOwner owner);

}  // namespace stepscope::analysis
