// What counts as a step: the profiler's own marks; else what the user names; else Lightning's
// batches; else what repeats in the kernel sequence; else the whole window. A pattern given by the
// user wins over everything.
#pragma once

#include <string>

#include "trace/trace.h"

namespace stepscope::trace {

Steps find_steps(const Trace& trace, const std::string& pattern);

}  // namespace stepscope::trace
