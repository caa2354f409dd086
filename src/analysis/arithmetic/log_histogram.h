// How often each length occurred, in buckets that grow with it: small, mergeable in any order, and
// percentiles within 1 %. For distributions over many ranks, where keeping every value costs too
// much; `Durations` is exact and for one rank.
#pragma once

#include <cstdint>
#include <limits>
#include <map>

#include "base/units.h"

namespace stepscope::analysis {

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
