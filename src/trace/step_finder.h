// What counts as a step: the profiler's own marks; else what the user names; else Lightning's
// batches; else what repeats in the kernel sequence; else the whole window. A pattern given by the
// user wins over everything.
#pragma once

#include <optional>

#include "trace/step_pattern.h"
#include "trace/trace.h"

namespace stepscope::trace {

// By their names; nothing where no name tells.
std::optional<Steps> named_steps(const Trace& trace, const StepPattern& pattern);
// Where no name tells. Wants to know what launched what.
Steps unnamed_steps(const Trace& trace);

}  // namespace stepscope::trace
