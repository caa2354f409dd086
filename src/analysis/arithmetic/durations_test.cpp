#include "analysis/arithmetic/durations.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

Durations durations_of(std::initializer_list<base::Nanos> values) {
  Durations out;
  for (const base::Nanos value : values) out.add(value);
  return out;
}

TEST(Durations, OfNoneAreZero) {
  Durations none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.sum(), 0);
  EXPECT_EQ(none.min(), 0);
  EXPECT_EQ(none.max(), 0);
  EXPECT_EQ(none.mean(), 0);
  EXPECT_EQ(none.standard_deviation(), 0);
  EXPECT_EQ(none.percentile(0.5), 0);
}

TEST(Durations, OfOneDeviateByNothing) {
  Durations one = durations_of({7});
  EXPECT_EQ(one.standard_deviation(), 0);
  EXPECT_EQ(one.percentile(0), 7);
  EXPECT_EQ(one.percentile(1), 7);
}

TEST(Durations, DeviateAsASampleDoes) {
  EXPECT_DOUBLE_EQ(durations_of({2, 4, 4, 4, 5, 5, 7, 9}).standard_deviation(),
                   std::sqrt(32.0 / 7));
  // A year apart: the squares need more than 64 bits.
  const base::Nanos year = 365LL * 86'400 * 1'000'000'000;
  EXPECT_DOUBLE_EQ(durations_of({0, year}).standard_deviation(),
                   static_cast<double>(year) / std::sqrt(2.0));
}

TEST(Durations, PercentilesAreValuesThatOccurred) {
  struct Case {
    double share;
    base::Nanos value;
  };
  Durations hundred;
  for (base::Nanos value = 100; value > 0; --value) hundred.add(value);
  for (const Case& c : {Case{0, 1},
                        {0.001, 1},
                        {0.07, 7},
                        {0.5, 50},
                        {0.501, 51},
                        {0.55, 55},
                        {0.95, 95},
                        {0.99, 99},
                        {0.991, 100},
                        {1, 100}}) {
    EXPECT_EQ(hundred.percentile(c.share), c.value) << c.share;
  }
}

TEST(Durations, AMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(Durations().median(), 0);
  EXPECT_EQ(durations_of({7}).median(), 7);
  EXPECT_EQ(durations_of({20, 10}).median(), 15);
  EXPECT_EQ(durations_of({9, 1, 4}).median(), 4);
  EXPECT_EQ(durations_of({9, 1, 4, 5}).median(), 4);  // whole nanoseconds, rounded down
  EXPECT_EQ(durations_of({-4, -1}).median(), -3);
  const base::Nanos huge = std::numeric_limits<base::Nanos>::max();
  EXPECT_EQ(durations_of({huge, huge - 2}).median(), huge - 1);
}

TEST(Durations, MergedInAnyOrderAreTheSame) {
  Durations a = durations_of({5, 1});
  Durations b = durations_of({3, 9, 2});
  EXPECT_EQ(a.percentile(0.5), 1);  // sorts before the merge
  Durations ab = a;
  ab.merge(b);
  Durations ba = b;
  ba.merge(a);
  for (const double share : {0.1, 0.5, 0.9}) EXPECT_EQ(ab.percentile(share), ba.percentile(share));
  EXPECT_EQ(ab.count(), 5U);
  EXPECT_EQ(ab.sum(), 20);
  EXPECT_EQ(ab.standard_deviation(), ba.standard_deviation());
}

}  // namespace
}  // namespace stepscope::analysis
