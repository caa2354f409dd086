// What the loop does with a batch until it asks for the next one.
#pragma once

#include <vector>

#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {

struct LoopWork {
  base::Nanos ns = 0;      // without what a profiler slowed
  base::Nanos all_ns = 0;  // with it
  bool traced = false;     // it slowed some of it
};

// Of that, what lies within steps: a profiler that opens or closes its window between two steps is
// no part of them, nor is validation. Where no step is near, all of it but validation, and all of
// it in other loops than the training's. Steps are the rank's, by start.
LoopWork loop_work(const std::vector<RecordedStep>& steps, const BatchWait& wait);

}  // namespace stepscope::analysis
