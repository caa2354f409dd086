// An exported timeline of torch.profiler as rows of memory-timeline: the same columns, with what
// torch's categories say.
#pragma once

#include <cstddef>

#include "analysis/analysis.h"
#include "analysis/memory/timeline_points.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// `points` stretches of equally many points or time, each as it was when it had the most; 0: all.
void add_exported(Answer& answer, const ExportedView& view, std::size_t points, TimelineAxis axis);

}  // namespace stepscope::analysis
