// Of every host span, the time in which it was the innermost one: of those open at a moment, the
// one that began last. Spans may overlap without nesting (Lightning ends a step's mark in the
// middle of the next batch) and callees may outlive their caller by clock noise; the own times of a
// thread's spans still add up to the time they cover, to the nanosecond.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

class OwnTime {
 public:
  // Only time within the host ranges of the steps that were chosen counts; all of it without a
  // choice.
  explicit OwnTime(const WindowView& window);

  // A call, an operator, a Python frame, a range: anything that can call or be called.
  static bool is_span(const trace::Trace& trace, trace::Row row);

  // The nearest span around a row, or kNoRow.
  trace::Row parent(trace::Row row) const { return parent_[row]; }
  base::Nanos own(trace::Row row) const { return own_[row]; }  // 0 for what is no span
  base::Nanos covered() const { return covered_; }             // all own times together

 private:
  std::vector<trace::Row> parent_;
  std::vector<base::Nanos> own_;
  base::Nanos covered_ = 0;
};

}  // namespace stepscope::analysis
