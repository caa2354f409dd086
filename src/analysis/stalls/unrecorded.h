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
#include "analysis/stalls/noted.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// What noting one takes the host usually, in ns, by what is known of a window.
using NotingCost = std::array<double, kNotedSorts>;
NotingCost noting_cost(const NotedSums& noted);  // all 0: nothing tells
NotingCost most_of(NotingCost usual);            // the most that it takes
base::Nanos cost_of(const NotedCounts& counts, const NotingCost& each);

// `gaps`: of each device of the window. `marks`: by start. Returns for every piece of work how long
// its device waits before it; pieces without a gap before them have 0.
std::vector<base::Nanos> unrecorded_waits(const WindowView& window, const NotingCost& cost,
                                          std::span<const HostMark> marks,
                                          std::span<const std::vector<Gap>> gaps);

}  // namespace stepscope::analysis
