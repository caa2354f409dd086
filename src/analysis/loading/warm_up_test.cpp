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
  EXPECT_EQ(warm_up(Lengths{900, 100, 300, 200, 100, 100, 110, 100, 90, 100, 105, 95}), 4U);
}

TEST(WarmUp, ASlowOneLaterIsNoWarmUp) {
  EXPECT_EQ(warm_up(Lengths{100, 100, 900, 100, 100, 100, 100, 100, 100, 100}), 0U);
}

TEST(WarmUp, WhatNeverSettlesHasNone) {
  Lengths falling;
  for (base::Nanos length = 2000; length > 0; length -= 100) falling.push_back(length);
  EXPECT_EQ(warm_up(falling), 0U);
}

TEST(WarmUp, IsAtMostAThird) {
  EXPECT_EQ(warm_up(Lengths{500, 900, 900, 500, 900, 900, 500, 900, 100, 100, 100, 100, 100, 100,
                            100, 100}),
            5U);
}

// Whatever makes every third step slow is no less so at the beginning.
TEST(WarmUp, WhatComesAgainAndAgainIsUsual) {
  for (const std::size_t every : {2, 3, 4, 5}) {
    for (const std::size_t count : {12, 24, 48, 96}) {
      Lengths lengths(count, 100);
      for (std::size_t i = 0; i < count; i += every) lengths[i] = 300;
      EXPECT_EQ(warm_up(lengths), 0U) << every << " of " << count;
    }
  }
}

TEST(WarmUp, IsNotWhatAProfilerMadeLonger) {
  Lengths lengths(20, 100);
  std::vector<bool> traced(20);
  for (std::size_t i = 1; i < 6; ++i) {
    lengths[i] = 400;
    traced[i] = true;
  }
  EXPECT_EQ(warm_up(lengths), 6U);
  EXPECT_EQ(warm_up(lengths, traced), 0U);
  lengths[0] = lengths[6] = 900;
  EXPECT_EQ(warm_up(lengths, traced), 7U);
  EXPECT_EQ(warm_up(Lengths{900, 100, 100, 100, 100, 100, 100, 100}, std::vector<bool>(8, true)),
            1U);
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
