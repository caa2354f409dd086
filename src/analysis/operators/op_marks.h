// The allocator's marks and the operators that were running when they were made. Marks are instants
// and have no place in the call tree.
#pragma once

#include <vector>

#include "analysis/operators/op_calls.h"

namespace stepscope::analysis {

struct OpMarks {
  // By entry of the trace's memory events: the innermost operator on their thread, or kNone. One
  // that ends at this very moment is still running.
  std::vector<std::uint32_t> call;
};

// Made once per window.
const OpMarks& op_marks(const WindowView& window);

}  // namespace stepscope::analysis
