// Of every host span, the time in which it was the innermost one: of those open at a moment, the
// one that began last. Spans may overlap without nesting (Lightning ends a step's mark in the
// middle of the next batch) and callees may outlive their caller by clock noise; the own times of a
// thread's spans still add up to the time they cover, to the nanosecond.
#pragma once

#include <cstdint>

#include "analysis/view.h"
#include "base/column.h"

namespace stepscope::analysis {

class OwnTime {
 public:
  // Only time within the host ranges of the steps that were chosen counts; all of it without a
  // choice.
  explicit OwnTime(const WindowView& window);

  // A call, an operator, a Python frame, a range: anything that can call or be called.
  static bool is_span(const trace::Trace& trace, trace::Row row) {
    const trace::Kind kind = trace.kind()[row];
    return trace.phase()[row] == trace::Phase::kSpan && kind != trace::Kind::kOverhead &&
           kind != trace::Kind::kProfiler && (trace.flags()[row] & trace::kFarTime) == 0;
  }

  // The nearest span around a row, or kNoRow.
  trace::Row parent(trace::Row row) const {
    do row = trace_->parent()[row];
    while (row != trace::kNoRow && !is_span(*trace_, row));
    return row;
  }
  base::Nanos self_ns(trace::Row row) const { return own_[row]; }  // 0 for what is no span
  base::Nanos covered() const { return covered_; }                 // all own times together

 private:
  const trace::Trace* trace_;
  base::Column<base::Nanos> own_;  // by row
  base::Nanos covered_ = 0;
};

}  // namespace stepscope::analysis
