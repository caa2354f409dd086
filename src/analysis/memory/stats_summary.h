// What torch.cuda.memory_stats said as rows of memory-summary, and whether a snapshot of the same
// process says the same.
#pragma once

#include "analysis/analysis.h"
#include "analysis/view.h"

namespace stepscope::analysis {

void add_stats(Answer& answer, const RunView& view, const StatsView& stats);

}  // namespace stepscope::analysis
