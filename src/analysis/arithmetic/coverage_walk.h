// How much of stretches of time a set covers, as Coverage says it, for questions that move on in
// time: each begins to search where the last one ended. Questions may go back; they only cost more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {

class CoverageWalk {
 public:
  CoverageWalk() = default;
  explicit CoverageWalk(Intervals set) : set_(std::move(set)) {
    sums_.reserve(set_.size());
    base::Nanos sum = 0;
    for (const Interval& i : set_) {
      sums_.push_back(sum);
      sum += i.length();
    }
  }

  base::Nanos covered(Interval within) {
    if (set_.empty() || within.end <= within.start) return 0;
    const base::Nanos until_start = before(within.start);
    return before(within.end) - until_start;
  }

 private:
  // Time of the set before this time.
  base::Nanos before(base::Nanos time) {
    move_to(time);
    if (begun_ == 0) return 0;
    const Interval& last = set_[begun_ - 1];
    return sums_[begun_ - 1] + std::min(time, last.end) - last.start;
  }
  void move_to(base::Nanos time) {
    std::size_t low = begun_;
    std::size_t high = begun_;
    for (std::size_t width = 1; high < set_.size() && set_[high].start <= time; width *= 2) {
      low = high + 1;
      high = std::min(high + width, set_.size());
    }
    for (std::size_t width = 1; low > 0 && set_[low - 1].start > time; width *= 2) {
      high = low - 1;
      low = high - std::min(width, high);
    }
    const auto first = set_.begin() + static_cast<std::ptrdiff_t>(low);
    const auto last = set_.begin() + static_cast<std::ptrdiff_t>(high);
    const auto after = std::ranges::upper_bound(first, last, time, {}, &Interval::start);
    begun_ = static_cast<std::size_t>(after - set_.begin());
  }

  Intervals set_;
  std::vector<base::Nanos> sums_;  // of all intervals before each
  std::size_t begun_ = 0;          // intervals that begin no later than what was asked about last
};

}  // namespace stepscope::analysis
