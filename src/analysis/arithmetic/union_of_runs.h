// A set of time from sorted runs of intervals, those of one thread or device after the other. Each
// run is merged as it comes, so that only few pieces are left to sort.
#pragma once

#include <span>
#include <utility>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {

class UnionOfRuns {
 public:
  void begin_run() {
    const Intervals& done = run_.set();
    pieces_.insert(pieces_.end(), done.begin(), done.end());
    run_ = {};
  }
  // By start within a run.
  void add(base::Nanos start, base::Nanos end) { run_.add(start, end); }
  void add_run(std::span<const Interval> set) {
    pieces_.insert(pieces_.end(), set.begin(), set.end());
  }
  Intervals take() {
    begin_run();
    return sorted_union(std::move(pieces_));
  }

 private:
  Union run_;
  Intervals pieces_;
};

}  // namespace stepscope::analysis
