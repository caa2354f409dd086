// How short a step can become when the GPU's work takes no time: the host still has to start it.
#pragma once

#include "advice/facts.h"

namespace stepscope::advice {

// What the host is busy with in a step, without its waits for the GPU and without what a profiler
// surely adds; 0: not known.
double host_floor_ns(const Facts& facts, const RankSteps& rank);

// Of a gain on the GPU, what the host lets through at least; the finding says where that, or what
// it lets through at most, is less.
double let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns);
// And at most: no step is shorter than the host needs for it, however much of its time recording
// is. The gain itself where stacks were recorded, of which nobody knows what they cost.
double most_let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns);
void say_what_host_lets_through(Finding& finding, const Facts& facts, const RankSteps& rank,
                                double low_ns, double high_ns);

}  // namespace stepscope::advice
