// A recorded run as one trial of the settings its loader had.
#pragma once

#include "analysis/loading/loader_trials.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// Of the rank that waited longest; of its loaders, the one that training took most batches from.
// Steps that a profiler slowed are left out.
TriedSetting finished_trial(const RunView& view);

}  // namespace stepscope::analysis
