// What a recorded run says about its loader, as a trial of `stepscope sweep` would have measured
// it: how the loader was set, and how long each step waited and worked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/loading/loader_settings.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// Steps that follow each other, as many as there are workers: batches come in bursts.
struct StepBlock {
  std::int64_t steps = 0;
  base::Nanos loading_ns = 0, training_ns = 0;
  std::optional<std::int64_t> samples = {};  // nothing: not known
};

struct LoaderTrial {
  LoaderSettings settings = {};
  std::vector<StepBlock> blocks = {};       // empty: no loader was watched
  std::vector<StepBlock> firsts = {};       // the first step of each pass
  std::optional<std::int64_t> length = {};  // batches of a pass
};

// Of the rank that waited longest, and of the loader that its training took most batches from.
LoaderTrial loader_trial(const RunView& view);

}  // namespace stepscope::analysis
