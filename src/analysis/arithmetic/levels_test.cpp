#include "analysis/arithmetic/levels.h"

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

TEST(Levels, ChangesAtOneTimeAreOneLevelAndNoneWhereTheyCancel) {
  EXPECT_TRUE(levels({}).empty());
  EXPECT_TRUE(levels({{5, 1}, {5, -1}}).empty());
  EXPECT_EQ(levels({{9, -2}, {3, 1}, {5, 1}}), (std::vector<Level>{{3, 1}, {5, 2}, {9, 0}}));
}

TEST(Levels, ThinningKeepsTheHighestOfEachStretch) {
  const std::vector<Level> all = {{0, 1}, {1, 5}, {2, 2}, {10, 3}, {19, 4}};
  EXPECT_EQ(thinned(all, 0), all);
  EXPECT_EQ(thinned(all, 5), all);
  EXPECT_EQ(thinned(all, 2), (std::vector<Level>{{1, 5}, {19, 4}}));
}

TEST(Levels, ACutBeginsWithTheLevelItFinds) {
  const std::vector<Level> all = {{10, 1}, {20, 2}, {30, 0}};
  const Intervals within = {{0, 5}, {15, 25}, {30, 40}};
  EXPECT_EQ(cut(all, within), (std::vector<Level>{{0, 0}, {15, 1}, {20, 2}, {30, 0}}));
}

TEST(Levels, ChangesMayComeInAnyOrder) {
  // Calls and starts of a queue: two runs, each in order.
  EXPECT_EQ(levels({{1, 1}, {2, 1}, {6, 1}, {3, -1}, {4, -1}, {7, -1}}),
            (std::vector<Level>{{1, 1}, {2, 2}, {3, 1}, {4, 0}, {6, 1}, {7, 0}}));
}

TEST(Levels, HighAndNegativeLevelsAreAddedUpAsLowOnes) {
  const std::vector<Level> all = {{0, 1'000'000}, {10, -3}, {20, 5}, {30, 1'000'000}, {40, 5}};
  const Intervals within = {{0, 50}};
  const TimeAtLevel time(all, within);
  EXPECT_EQ(time.total(), 50);
  EXPECT_EQ(time.max(), 1'000'000);
  EXPECT_EQ(time.at_least(1'000'000), 20);
  EXPECT_EQ(time.at_least(0), 40);
  EXPECT_EQ(time.percentile(0.2), -3);
  EXPECT_EQ(time.percentile(0.6), 5);
}

TEST(Levels, ValuesAreWeighedByTheTimeTheyLasted) {
  const std::vector<Level> all = {{10, 1}, {20, 3}, {30, 0}};
  const Intervals within = {{0, 40}};
  TimeAtLevel time(all, within);
  EXPECT_EQ(time.total(), 40);
  EXPECT_EQ(time.mean(), 1.0);
  EXPECT_EQ(time.max(), 3);
  EXPECT_EQ(time.at_zero(), 20);
  EXPECT_EQ(time.at_least(1), 20);
  EXPECT_EQ(time.percentile(0.5), 0);
  EXPECT_EQ(time.percentile(0.75), 1);
  EXPECT_EQ(time.percentile(0.76), 3);
  time.leave_out_zero();
  EXPECT_EQ(time.mean(), 2.0);
  const Intervals none;
  EXPECT_EQ(TimeAtLevel(all, none).percentile(0.5), 0);
}

}  // namespace
}  // namespace stepscope::analysis
