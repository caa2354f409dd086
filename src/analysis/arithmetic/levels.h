// A quantity that changes in steps over time, such as the length of a queue, and what it was most
// of the time. In integers, so that what was added is taken away again without residue.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {

struct Change {
  base::Nanos time = 0;
  std::int64_t by = 0;
};

// From this time on, until the next one.
struct Level {
  base::Nanos time = 0;
  std::int64_t value = 0;
  bool operator==(const Level&) const = default;
};

// The sums of changes that come in any order, one level per time at which the sum differs. Before
// the first it is 0.
std::vector<Level> levels(std::vector<Change> changes);

// No more than `points` of them: the highest of each of as many equal stretches. 0: all.
std::vector<Level> thinned(std::span<const Level> all, std::size_t points);

// The levels inside a set of time: each stretch begins with the level that it finds.
std::vector<Level> cut(std::span<const Level> all, std::span<const Interval> within);

// How long the quantity had which value.
class TimeAtLevel {
 public:
  TimeAtLevel() = default;
  TimeAtLevel(std::span<const Level> all, std::span<const Interval> within);
  void merge(const TimeAtLevel& other);
  void leave_out_zero();  // the quantity is there only while it is not 0

  base::Nanos total() const;
  double mean() const;  // by time; of none: 0
  std::int64_t max() const;
  // The smallest value that was not exceeded for at least this share of the time.
  std::int64_t percentile(double share) const;
  base::Nanos at_least(std::int64_t value) const;
  base::Nanos at_zero() const;

 private:
  void add(std::int64_t value, base::Nanos time);
  void settle();
  std::vector<std::pair<std::int64_t, base::Nanos>> times_;  // by value, each once
  std::vector<base::Nanos> small_;                           // by value, until they are settled
};

}  // namespace stepscope::analysis
