// Statistics of many lengths of time in integers, so that the order of merging does not matter.
#pragma once

#include <cstdint>
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

}  // namespace stepscope::analysis
