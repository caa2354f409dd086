#include <cstdlib>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "analysis/arithmetic/durations.h"

namespace stepscope::analysis {
namespace {

TEST(LogHistogram, BucketsFollowEachOtherWithoutGaps) {
  for (std::uint32_t bucket = 0; bucket < 3000; ++bucket) {
    const base::Nanos lowest = LogHistogram::lowest_of(bucket);
    EXPECT_EQ(LogHistogram::bucket_of(lowest), bucket);
    EXPECT_EQ(LogHistogram::bucket_of(LogHistogram::lowest_of(bucket + 1) - 1), bucket);
  }
  EXPECT_EQ(LogHistogram::bucket_of(-5), 0U);
  EXPECT_GT(LogHistogram::bucket_of(std::numeric_limits<base::Nanos>::max()), 3000U);
}

TEST(LogHistogram, PercentilesAreWithinOnePercent) {
  std::mt19937 dice(7);
  std::lognormal_distribution<double> lengths(9, 3);
  for (const int size : {1, 2, 10, 1000}) {
    LogHistogram histogram;
    Durations exact;
    for (int i = 0; i < size; ++i) {
      const auto length = static_cast<base::Nanos>(lengths(dice));
      histogram.add(length);
      exact.add(length);
    }
    for (const double share : {0.0, 0.05, 0.5, 0.95, 1.0}) {
      const base::Nanos value = exact.percentile(share);
      EXPECT_LE(std::abs(histogram.percentile(share) - value) * 100, value) << size << " " << share;
    }
  }
}

TEST(LogHistogram, MergedInAnyOrderIsTheSame) {
  LogHistogram a;
  LogHistogram b;
  for (base::Nanos i = 0; i < 500; ++i) (i % 3 == 0 ? a : b).add(i * i);
  LogHistogram ab = a;
  ab.merge(b);
  b.merge(a);
  EXPECT_EQ(ab.count(), 500U);
  for (const double share : {0.1, 0.5, 0.99}) {
    EXPECT_EQ(ab.percentile(share), b.percentile(share));
  }
  EXPECT_EQ(LogHistogram().percentile(0.5), 0);
}

}  // namespace
}  // namespace stepscope::analysis
