// What happens over time, computed from a run for viewers that cannot: lengths of queues, rates of
// copies, utilisation, memory.
#pragma once

#include <vector>

#include "base/result.h"
#include "emit/emit.h"
#include "session/analyze.h"
#include "trace/run.h"

namespace stepscope::session {

enum class MemorySeries : std::uint8_t { kInclude, kLeaveOut };

// One list per window, in the order of the run. What the trace has under the same name is left out.
base::Result<std::vector<std::vector<emit::CounterSeries>>> counter_series(const trace::Run& run,
                                                                           MemorySeries memory,
                                                                           unsigned threads);
// The same with a study of all of the run at hand.
base::Result<std::vector<std::vector<emit::CounterSeries>>> counter_series(const trace::Run& run,
                                                                           const Study& study,
                                                                           MemorySeries memory);

}  // namespace stepscope::session
