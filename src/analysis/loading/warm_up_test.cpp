#include <vector>

#include <gtest/gtest.h>

#include "analysis/loading/iterations.h"

namespace stepscope::analysis {
namespace {

using Lengths = std::vector<base::Nanos>;

TEST(WarmUp, NoneWhereAllAreAlike) { EXPECT_EQ(warm_up(Lengths(20, 100)), 0U); }

TEST(WarmUp, NoneWhereThereAreTooFew) {
  EXPECT_EQ(warm_up(Lengths{}), 0U);
  EXPECT_EQ(warm_up(Lengths{290, 100, 100, 100, 100, 100, 100}), 0U);
  EXPECT_EQ(warm_up(Lengths{900, 100, 100}), 0U);
}

TEST(WarmUp, AFirstThatIsFarFromAllOthersIs) {
  EXPECT_EQ(warm_up(Lengths{900, 100, 100, 100, 100, 100, 100}), 1U);
  EXPECT_EQ(warm_up(Lengths{1, 300, 300, 300, 300, 300, 300}), 1U);
  EXPECT_EQ(warm_up(Lengths{1, 300, 300, 300, 300, 300, 300, 300, 300}), 1U);
  Lengths bursts(40, 7);  // of two workers: two batches at once, then a pause
  for (std::size_t i = 0; i < bursts.size(); i += 2) bursts[i] = 75;
  EXPECT_EQ(warm_up(bursts), 0U);
  bursts[0] = 6460;
  EXPECT_EQ(warm_up(bursts), 1U);
}

TEST(WarmUp, TheFirstIsSlow) {
  EXPECT_EQ(warm_up(Lengths{900, 100, 100, 100, 100, 100, 100, 100}), 1U);
}

TEST(WarmUp, OneQuickAmongSlowOnesIsPartOfIt) {
  EXPECT_EQ(warm_up(Lengths{900, 100, 300, 200, 100, 100, 110, 100, 90, 100}), 4U);
}

TEST(WarmUp, ASlowOneLaterIsNoWarmUp) {
  EXPECT_EQ(warm_up(Lengths{100, 100, 900, 100, 100, 100, 100, 100, 100, 100}), 0U);
}

TEST(WarmUp, WhatNeverSettlesHasNone) {
  Lengths falling;
  for (base::Nanos length = 2000; length > 0; length -= 100) falling.push_back(length);
  EXPECT_EQ(warm_up(falling), 0U);
}

TEST(WarmUp, IsAtMostHalf) {
  EXPECT_EQ(warm_up(Lengths{500, 900, 900, 500, 900, 900, 500, 900, 100, 100, 100, 100, 100, 100,
                            100, 100}),
            8U);
}

TEST(WarmUp, WhatIsSlowEverySecondTimeIsUsual) {
  EXPECT_EQ(warm_up(Lengths{100, 900, 900, 100, 900, 900, 100, 900, 900, 100, 100, 900, 900, 100,
                            100, 100}),
            0U);
}

TEST(WarmUp, AQuarterMoreIsUsual) {
  EXPECT_EQ(warm_up(Lengths{125, 100, 100, 100, 100, 100, 100, 100}), 0U);
  EXPECT_EQ(warm_up(Lengths{126, 100, 100, 100, 100, 100, 100, 100}), 1U);
}

}  // namespace
}  // namespace stepscope::analysis
