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

// Lengths without building the sets.
base::Nanos common(std::span<const Interval> a, std::span<const Interval> b);
base::Nanos covered(std::span<const Interval> set, Interval within);

// Sum over many queries that come by start: remembers where it was.
class Cursor {
 public:
  explicit Cursor(std::span<const Interval> set) : set_(set) {}
  // Time of the set inside `within`; starts must not decrease from call to call.
  base::Nanos covered(Interval within);

 private:
  std::span<const Interval> set_;
  std::size_t at_ = 0;
};

}  // namespace stepscope::analysis
