// Curves as some hundred points that a page has room for: the mean of each stretch of time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "analysis/system/node_curves.h"

namespace stepscope::analysis {

// Calls add(start, value) for each of `points` equal stretches of the sampled time that has a
// value: the mean of a gauge's samples, or the growth of a running total per nanosecond. A gauge of
// no more samples than that comes as it is: add(time of the sample, its value).
void for_each_bucket(const Curve& curve, Interval sampled, std::size_t points,
                     const std::function<void(base::Nanos start, double value)>& add);

}  // namespace stepscope::analysis
