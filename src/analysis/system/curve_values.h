// Numbers out of curves: how values spread, rates of running totals, means within a stretch of
// time. Nothing where the curve says nothing, never 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/system/node_curves.h"
#include "base/table.h"

namespace stepscope::analysis {

struct SampleSpread {
  double mean = 0, median = 0, p95 = 0, max = 0;
  std::size_t count = 0;
};
// Of values as they are.
std::optional<SampleSpread> spread_of(const Curve* curve, double scale = 1);
// Of the rates of a running total per nanosecond, over stretches of at least `window`; the mean is
// that of the whole time. A total that fell began anew, and that stretch is left out.
std::optional<SampleSpread> rates_of(const Curve* curve, base::Nanos window, double scale = 1);
// The same of a total that cannot grow faster than time itself. The kernel counts in ticks, so that
// over a short stretch it may seem to: that is all of the time, not more.
std::optional<SampleSpread> shares_of(const Curve* curve, base::Nanos window, double scale = 1);
inline double at_most_all(double share) { return std::min(share, 1.0); }

std::optional<std::int64_t> last_of(const Curve* curve);
std::optional<std::int64_t> largest_of(const Curve* curve);
// Of a running total, from the first sample to the last.
std::optional<std::int64_t> growth_of(const Curve* curve);

// Answers for many stretches of time, each in log n.
class CurveReader {
 public:
  explicit CurveReader(const Curve* curve);

  // Of the samples that lie within; nothing where none does.
  std::optional<double> mean(Interval within) const;
  std::optional<double> mean(std::span<const Interval> within) const;
  std::optional<std::int64_t> max(std::span<const Interval> within) const;
  std::size_t samples(Interval within) const;
  // Of a running total, by straight lines between samples. Where a little of a stretch lies before
  // the first sample or after the last, it grew there as in the rest; nothing where more does.
  std::optional<double> growth(Interval within) const;
  std::optional<double> growth(std::span<const Interval> within) const;

 private:
  std::size_t first_at(base::Nanos time) const;
  std::int64_t sum(Interval within) const;
  std::optional<double> value_at(base::Nanos time) const;
  Interval covered(Interval within) const;

  const Curve* curve_;
  std::vector<std::int64_t> sums_;  // of gauges, of all values before each
};

// A cell of what may not be known.
template <class T>
base::Cell cell_or_null(const std::optional<T>& value) {
  return value ? base::Cell(*value) : base::Cell(base::Null{});
}

}  // namespace stepscope::analysis
