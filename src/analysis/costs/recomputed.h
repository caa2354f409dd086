// Which operator calls do again, in the backward pass, what the forward pass had done: activation
// checkpointing, by whichever of its ways. Definition: docs/metrics/mfu.md.
#pragma once

#include <vector>

#include "analysis/operators/op_times.h"

namespace stepscope::analysis {

// By OpTimes::calls.
std::vector<bool> recomputed_calls(const trace::Trace& trace, const OpTimes& times);

}  // namespace stepscope::analysis
