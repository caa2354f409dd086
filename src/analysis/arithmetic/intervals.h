// Sets of time as sorted lists of intervals that neither overlap nor touch. All operations are one
// pass over their sorted input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"

namespace stepscope::analysis {

struct Interval {
  base::Nanos start = 0, end = 0;
  base::Nanos length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

using Intervals = std::vector<Interval>;

// Builds a set from intervals that come by start; empty ones vanish, touching ones become one.
class Union {
 public:
  void add(base::Nanos start, base::Nanos end) {
    if (end <= start) return;
    if (!set_.empty() && start <= set_.back().end) {
      if (end > set_.back().end) set_.back().end = end;
    } else {
      set_.push_back({start, end});
    }
  }
  const Intervals& set() const { return set_; }
  Intervals take() { return std::move(set_); }

 private:
  Intervals set_;
};

Intervals sorted_union(std::vector<Interval> any_order);

base::Nanos total(std::span<const Interval> set);
Intervals unite(std::span<const Interval> a, std::span<const Interval> b);
Intervals intersect(std::span<const Interval> a, std::span<const Interval> b);
Intervals subtract(std::span<const Interval> a, std::span<const Interval> b);
Intervals clip(std::span<const Interval> set, Interval to);

// Lengths without building the sets. `covered` walks over what lies within.
base::Nanos common(std::span<const Interval> a, std::span<const Interval> b);
base::Nanos covered(std::span<const Interval> set, Interval within);

// Answers many questions about one set, in any order, each in log n: long questions that overlap
// would otherwise walk over the same intervals again and again.
class Coverage {
 public:
  Coverage() = default;
  explicit Coverage(std::span<const Interval> set);

  base::Nanos before(base::Nanos time) const;  // time of the set before this time
  base::Nanos covered(Interval within) const {
    return within.end <= within.start ? 0 : before(within.end) - before(within.start);
  }
  const Intervals& set() const { return set_; }

 private:
  Intervals set_;
  std::vector<base::Nanos> sums_;  // of all intervals before each
};

// A set of time from sorted runs of intervals, those of one thread or device after the other. Each
// run is merged as it comes, so that only few pieces are left to sort.

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

// How much of stretches of time a set covers, as Coverage says it, for questions that move on in
// time: each begins to search where the last one ended. Questions may go back; they only cost more.

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
