// How short a step can become when the GPU's work takes no time: the host still has to start it.
#pragma once

#include "advice/facts.h"

namespace stepscope::advice {

// What the host is busy with in a step, without its waits for the GPU and without what a profiler
// surely adds; 0: not known.
double host_floor_ns(const Facts& facts, const RankSteps& rank);

}  // namespace stepscope::advice
