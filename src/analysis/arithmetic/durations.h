// Statistics of many lengths of time in integers, so that the order of merging does not matter.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/units.h"

namespace stepscope::analysis {

class Durations {
 public:
  void add(base::Nanos length) {
    values_.push_back(length);
    sorted_ = false;
  }
  void merge(const Durations& other);

  std::size_t count() const { return values_.size(); }
  base::Nanos sum() const;
  base::Nanos min() const;  // of none: 0
  base::Nanos max() const;
  double mean() const;
  double standard_deviation() const;  // of the sample (n - 1); 0 for fewer than two
  // The smallest value that at least this share of the values do not exceed: a value that occurred.
  base::Nanos percentile(double share);
  // The value in the middle; of an even number the middle between the two, rounded down.
  base::Nanos median();

 private:
  std::vector<base::Nanos> values_;
  bool sorted_ = false;
};

// How often each length occurred, in buckets that grow with it: small, mergeable in any order, and
// percentiles within 1 %. For distributions over many ranks, where keeping every value costs too
// much; `Durations` is exact and for one rank.

class LogHistogram {
 public:
  void add(base::Nanos length);
  void merge(const LogHistogram& other);

  std::uint64_t count() const { return count_; }
  // About the smallest value that at least this share do not exceed: the middle of its bucket, but
  // not outside of what occurred. Of none: 0.
  base::Nanos percentile(double share) const;

  // Below 128 every value has its own bucket; above, 64 equal ones share each doubling.
  static std::uint32_t bucket_of(base::Nanos length);
  static base::Nanos lowest_of(std::uint32_t bucket);

 private:
  std::map<std::uint32_t, std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  base::Nanos min_ = std::numeric_limits<base::Nanos>::max();
  base::Nanos max_ = 0;
};

}  // namespace stepscope::analysis
