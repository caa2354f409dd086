// The steps of a rank and the batches that came during each.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {

struct LoaderStep {
  RecordedStep step;
  std::int64_t batches = 0;
  base::Nanos wait_ns = 0;             // of the waits that ended during it, the last of a pass too
  bool known = true;                   // false: a thread beside the loop took all its batches
  const BatchWait* longest = nullptr;  // of those that brought a batch
  const MadeBatch* made = nullptr;     // that batch
};

// Steps by start. What is pointed to belongs to `rank`.
std::vector<LoaderStep> loader_steps(const RankLoading& rank,
                                     const std::vector<RecordedStep>& steps);

}  // namespace stepscope::analysis
