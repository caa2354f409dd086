// Device work by name and by the operator that launched it: what kernels are matched by where their
// names differ.
#pragma once

#include "analysis/view.h"
#include "base/table.h"

namespace stepscope::analysis {

// rank, operator, kernel, class, count, sum_ns; by rank, operator and kernel.
base::Table launched_work(const RunView& view);

}  // namespace stepscope::analysis
