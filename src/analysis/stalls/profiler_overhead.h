// What a profiler noted on the threads that launch work. Each operator, range, call, Python
// function and allocation that it notes costs the host time, which a device that waits for the host
// waits longer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/idle/idle_gaps.h"
#include "analysis/stalls/host_marks.h"
#include "analysis/view.h"

namespace stepscope::analysis {

enum class OverheadKind : std::uint8_t {
  kOperator,
  kCall,    // of the runtime or the driver
  kLaunch,  // the same, and a kernel is launched by it
  kFunction,
  kRange,   // record_function; steps are no work of the program
  kMemory,  // an allocation or a free
  kNode,    // of a graph: work beyond the first piece that a call launches
};
inline constexpr std::size_t kOverheadKinds = 7;
using OverheadCounts = std::array<std::int64_t, kOverheadKinds>;

// Row by row, thread by thread and by start.
void for_each_recorded_call(const WindowView& window,
                            const std::function<void(trace::Row, OverheadKind)>& tell);

// What began in this time.
OverheadCounts overhead_counts_in(const WindowView& window, Interval time);

struct OverheadSums {
  OverheadCounts counts{};  // in the steps
  // Of operators that do nothing but call one other, the time that is not that one's: noting it,
  // and little else.
  std::vector<base::Nanos> wrappers;
  std::vector<base::Nanos> launches;  // how long calls took that launch kernels

  std::int64_t count(OverheadKind sort) const { return counts[static_cast<std::size_t>(sort)]; }
  void merge(const OverheadSums& other);
  // The lower quartile; 0: there are too few to tell.
  base::Nanos wrapper_ns() const;
  // The median; 0: there are too few.
  base::Nanos launch_ns() const;
  // What noting an operator takes: by the operators that only call another, and by launches where
  // those are too few, as in code that is compiled. Of graphs it is as usual. 0: nothing tells.
  base::Nanos operator_ns() const;
};
OverheadSums overhead_sums(const WindowView& window);

// How long devices would have waited, at the least, without a profiler. Noting an operator or a
// call takes the host time; the window is played again with each of them shorter by that.
// Definition: docs/metrics/stalls.md.

// What noting one takes the host usually, in ns, by what is known of a window.
using OverheadCost = std::array<double, kOverheadKinds>;
OverheadCost overhead_cost(const OverheadSums& noted);  // all 0: nothing tells
OverheadCost most_of(OverheadCost usual);               // the most that it takes
base::Nanos cost_of(const OverheadCounts& counts, const OverheadCost& each);

// `gaps`: of each device of the window. `marks`: by start. Returns for every piece of work how long
// its device waits before it; pieces without a gap before them have 0.
std::vector<base::Nanos> waits_without_profiler(const WindowView& window, const OverheadCost& cost,
                                                std::span<const HostMark> marks,
                                                std::span<const std::vector<Gap>> gaps);

}  // namespace stepscope::analysis
