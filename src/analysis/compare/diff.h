// What changed between two runs, ranks or sets of steps: a pure function of the answers that each
// side gave. Definitions: docs/metrics/comparing.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/change.h"
#include "analysis/compare/step_samples.h"
#include "analysis/view.h"
#include "base/table.h"

namespace stepscope::analysis {

// What kernels and operators took in every step: how much they differ by themselves.

// Times in ns by name, one for each of the chosen steps, in order: 0 where it did not run.
using SumsByStep = std::map<std::string, std::vector<double>, std::less<>>;

struct StepSums {
  std::size_t steps = 0;
  SumsByStep kernels;           // of the kernel, copy or memset
  SumsByStep operators_device;  // work the operator launched itself
  SumsByStep operators_host;    // host time of its own
};

// By rank. Work and calls of no step are left out.
std::map<std::int64_t, StepSums> sums_by_step(const RunView& view);

// One side. The answers are of the steps that are compared, without warm-up.
struct Side {
  std::string name;  // as the user calls it
  Answer steps, operators, overview;
  base::Table launched;                           // see launched_work
  std::map<std::int64_t, StepSums> by_step = {};  // see sums_by_step
  std::size_t warmup = 0;                         // steps that were left out of these answers
  UntracedSteps untraced = {};  // compared instead of the others where both sides have them
  bool is_traced = true;        // a profiler ran during the steps of these answers
};

// The descriptor of the answer below. It is in no registry: it asks about two runs.
extern const Analysis kDiff;

// `one_run`: both sides are of the same run, so that runs do not differ.
Answer diff(const Side& before, const Side& after, bool one_run);

// Device work by name and by the operator that launched it: what kernels are matched by where their
// names differ.

// rank, operator, kernel, class, count, sum_ns; by rank, operator and kernel.
base::Table launched_work(const RunView& view);

}  // namespace stepscope::analysis
