// For every host event, the named range around it and the forward operator it is the backward of.
// Found in one pass: a parent stands before its children.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace stepscope::analysis {

class AnnotationTree {
 public:
  explicit AnnotationTree(const trace::Trace& trace);

  // The innermost annotation around a row, not the row itself; kNoRow for none.
  trace::Row around(trace::Row row) const { return around_[row]; }
  // The forward operator of the innermost backward operator at or around a row.
  trace::Row forward_of(trace::Row row) const { return forward_[row]; }

 private:
  std::vector<trace::Row> around_, forward_;
};

}  // namespace stepscope::analysis
