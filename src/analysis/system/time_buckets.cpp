#include "analysis/system/time_buckets.h"

#include <algorithm>

#include "analysis/system/curve_values.h"

namespace stepscope::analysis {

void for_each_bucket(const Curve& curve, Interval sampled, std::size_t points,
                     const std::function<void(base::Nanos start, double value)>& add) {
  // Few values of moments are given as they were seen, and when: in stretches of about their own
  // distance they would seem to come up to one too early.
  if (!curve.is_counter() && curve.values.size() <= points) {
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      add(curve.times[i], static_cast<double>(curve.values[i]));
    }
    return;
  }
  // No finer than the samples are.
  const std::size_t count = std::min(points, curve.values.size());
  if (count == 0 || sampled.length() <= 0) return;
  const CurveReader reader(&curve);
  const auto parts = static_cast<base::Nanos>(count);
  const base::Nanos width = (sampled.length() + parts) / parts;  // the last sample lies within
  for (base::Nanos i = 0; i < parts; ++i) {
    const Interval bucket{sampled.start + i * width, sampled.start + (i + 1) * width};
    if (!curve.is_counter()) {
      if (const auto mean = reader.mean(bucket)) add(bucket.start, *mean);
      continue;
    }
    const Interval within{bucket.start, std::min(bucket.end, sampled.end)};
    if (within.length() <= 0) continue;
    if (const auto growth = reader.growth(within)) {
      add(bucket.start, *growth / static_cast<double>(within.length()));
    }
  }
}

}  // namespace stepscope::analysis
