#include <gtest/gtest.h>

#include "analysis/memory/timeline_tables.h"

namespace stepscope::analysis {
namespace {

struct Curve {
  std::vector<base::Nanos> times;
  std::vector<int> heights;

  std::vector<std::uint32_t> over_time(std::size_t points) const {
    return highest_over_time(
        static_cast<std::uint32_t>(times.size()), points,
        [this](std::size_t i) { return times[i]; }, [this](std::size_t i) { return heights[i]; });
  }
};

TEST(HighestOverTime, WhatHoldsOverAGapIsTheLastPlaceBeforeIt) {
  // Ten stretches of ten: a peak at 5, down again at 6, then nothing until 70.
  const Curve curve{{0, 5, 6, 70, 99}, {1, 9, 2, 3, 3}};
  EXPECT_EQ(curve.over_time(10), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST(HighestOverTime, EndsWithTheEndAndNotWithAPeak) {
  const Curve curve{{0, 50, 95, 99}, {1, 2, 9, 4}};
  EXPECT_EQ(curve.over_time(10), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(HighestOverTime, GivesNoTimeTwice) {
  // What follows the peak has its time: charts have one value for a moment, and that is the peak.
  const Curve curve{{0, 5, 5, 99, 99}, {1, 9, 2, 7, 3}};
  EXPECT_EQ(curve.over_time(10), (std::vector<std::uint32_t>{1, 3}));
}

}  // namespace
}  // namespace stepscope::analysis
