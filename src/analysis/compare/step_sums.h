// What kernels and operators took in every step: how much they differ by themselves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
