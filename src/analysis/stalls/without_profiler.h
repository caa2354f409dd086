// How long devices would have waited, at the least, had nobody recorded. Noting an operator or a
// call takes the host time; the window is played again with each of them shorter by that.
// Definition: docs/metrics/stalls.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/idle/idle_gaps.h"
#include "analysis/stalls/host_marks.h"
#include "analysis/stalls/profiler_overhead.h"
#include "analysis/view.h"

namespace stepscope::analysis {

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
