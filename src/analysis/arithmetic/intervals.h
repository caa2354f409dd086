// Sets of time as sorted lists of intervals that neither overlap nor touch. All operations are one
// pass over their sorted input.
#pragma once

#include <span>
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

}  // namespace stepscope::analysis
