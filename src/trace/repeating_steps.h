// Steps that nothing marks: the rhythm in the kernels of the busiest stream.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace stepscope::trace {

// From one launch of a kernel that comes once a round to the next, numbered from 0. Empty where
// most of the stream's work has no such rhythm. As other steps they are ranges of the host's time,
// because the device may lag behind it by more than a step; of the device's own where a trace does
// not tell who launched what.
std::vector<Step> repeating_steps(const Trace& trace);

}  // namespace stepscope::trace
