// The statistic of `diff` and `check`: known quantiles, what is warm-up, what an interval
// holds.
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/compare/change.h"
#include "analysis/compare/matched.h"
#include "analysis/compare/series.h"
#include "analysis/compare/student.h"

namespace stepscope::analysis {
namespace {

TEST(Student, QuantilesAreThoseOfTheTables) {
  const double normal = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(student_quantile(0.025, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 3), 3.18245, 1e-4);
  EXPECT_NEAR(student_quantile(0.005, 10), 3.16927, 1e-4);
  EXPECT_NEAR(student_quantile(0.005, 100), 2.62589, 1e-4);
  EXPECT_NEAR(student_quantile(0.005, normal), 2.57583, 1e-4);
  EXPECT_NEAR(student_quantile(0.05, normal), 1.64485, 1e-4);
}

TEST(Warmup, EndsWhereStepsAreLikeTheRest) {
  EXPECT_EQ(warmup_steps(std::vector<double>{400, 20, 10, 10, 10, 10, 10, 10}), 2u);
  EXPECT_EQ(warmup_steps(std::vector<double>{2, 2, 10, 10, 10, 10, 10, 10}), 2u);  // a full queue
}

TEST(Warmup, AStragglerLaterOnIsNone) {
  EXPECT_EQ(warmup_steps(std::vector<double>{10, 10, 10, 40, 10, 10, 10, 10, 10, 10}), 0u);
  EXPECT_EQ(warmup_steps(std::vector<double>{40, 10, 10, 10, 40, 10, 10, 10, 10, 10}), 1u);
}

TEST(Warmup, IsNotWhatComesAgainAndAgain) {
  std::vector<double> steps(60, 10);
  for (std::size_t i = 0; i < steps.size(); i += 3) steps[i] = 30;
  EXPECT_EQ(warmup_steps(steps), 0u);
  steps[0] = steps[1] = steps[2] = steps[3] = 90;
  EXPECT_EQ(warmup_steps(steps), 4u);
}

TEST(Warmup, IsNotGuessedFromFewSteps) {
  EXPECT_EQ(warmup_steps(std::vector<double>{400, 10, 10, 10, 10}), 0u);
  EXPECT_EQ(warmup_steps(std::vector<double>{}), 0u);
}

TEST(Warmup, StepsThatAreNearlyAlikeAreNotToldApart) {
  EXPECT_EQ(warmup_steps(std::vector<double>{104, 100, 100, 100, 100, 100, 100, 100}), 0u);
}

TEST(Estimate, AStragglerDoesNotMoveTheTypicalStep) {
  const std::vector<double> steps = {10, 10, 11, 9, 10, 500, 10, 10};
  EXPECT_DOUBLE_EQ(estimate(steps, Average::kTypical).value, 10);
  EXPECT_DOUBLE_EQ(estimate(steps, Average::kMean).value, 71.25);
  EXPECT_EQ(middle_half(steps).size(), 4u);
}

TEST(Estimate, OfOneStepHasNoVariance) {
  EXPECT_EQ(estimate(std::vector<double>{7}, Average::kMean).variance, 0);
  EXPECT_EQ(estimate(std::vector<double>{}, Average::kMean).steps, 0u);
}

// Of independent values the variance of the mean is that of the textbook.
TEST(Estimate, VarianceIsThatOfTheMean) {
  std::vector<double> steps(400);
  for (int i = 0; i < 400; ++i) steps[static_cast<std::size_t>(i)] = 100 + (i * 7919) % 11;
  double mean = 0;
  double squares = 0;
  for (const double step : steps) mean += step / 400;
  for (const double step : steps) squares += (step - mean) * (step - mean);
  const double expected = squares / 399 / 400;
  const Estimate found = estimate(steps, Average::kMean);
  EXPECT_GT(found.variance, expected / 3);
  EXPECT_LT(found.variance, expected * 3);
}

// Neighbours that are alike say less than as many independent steps.
TEST(Estimate, StepsThatFollowEachOtherCountForLess) {
  std::vector<double> mixed;
  std::vector<double> slow_waves;
  for (int i = 0; i < 200; ++i) {
    mixed.push_back(i % 2 == 0 ? 90 : 110);
    slow_waves.push_back((i / 10) % 2 == 0 ? 90 : 110);
  }
  EXPECT_GT(estimate(slow_waves, Average::kMean).variance,
            2 * estimate(mixed, Average::kMean).variance);
}

// Each of them a mixture of the one before and of something new.
std::vector<double> related_steps(double handed_on, int count) {
  std::vector<double> out;
  double distance = 0;
  std::minstd_rand draw(7);
  for (int i = 0; i < count; ++i) {
    distance = handed_on * distance + static_cast<double>(draw() % 101) - 50;
    out.push_back(1000 + distance);
  }
  return out;
}

TEST(HandedOn, IsWhatStepsHaveInCommon) {
  EXPECT_LT(handed_on(related_steps(0, 300), Average::kMean), 0.15);
  EXPECT_GT(handed_on(related_steps(0.9, 300), Average::kMean), 0.75);
  EXPECT_GT(handed_on(related_steps(0.9, 300), Average::kTypical), 0.6);
  EXPECT_EQ(handed_on(related_steps(0.9, 9), Average::kMean),
            handed_on(related_steps(0, 9), Average::kMean));  // too few to tell
}

TEST(Estimate, StepsThatHandOnMuchAreWorthFew) {
  const Estimate related = estimate(related_steps(0.9, 100), Average::kMean);
  EXPECT_LT(related.worth_steps(), 25);
  EXPECT_GT(estimate(related_steps(0, 100), Average::kMean).worth_steps(), 70);
  EXPECT_DOUBLE_EQ(estimate(related_steps(0, 8), Average::kTypical).worth_steps(), 4);
}

Estimate run_of(double value, double error) {
  return {.value = value, .variance = error * error, .steps = 50};
}

TEST(Compare, TheSpreadBetweenRunsIsInTheInterval) {
  const std::array before = {run_of(100, 0.1)};
  const std::array after = {run_of(102, 0.1)};
  const Difference change = compare(before, after, {});
  ASSERT_TRUE(change.bounds);
  EXPECT_GT(change.bounds->low, 0);
  EXPECT_NEAR((change.bounds->high - change.bounds->low) / 2, 1.69, 0.03);
  EXPECT_FALSE(compare(before, std::array{run_of(101.5, 0.1)}, {}).bounds->low > 0);
  // Within one run there is none.
  EXPECT_GT(compare(before, std::array{run_of(101, 0.1)}, {.spread = 0}).bounds->low, 0);
}

TEST(Compare, SeveralRunsNarrowTheInterval) {
  const std::array one = {run_of(100, 0.1)};
  const std::array several = {run_of(100, 0.1), run_of(100.1, 0.1), run_of(99.9, 0.1),
                              run_of(100.05, 0.1)};
  const auto width = [](const Difference& change) {
    return change.bounds->high - change.bounds->low;
  };
  EXPECT_LT(width(compare(several, several, {})), 0.6 * width(compare(one, one, {})));
}

TEST(Compare, RunsThatDifferMuchWidenIt) {
  const std::array alike = {run_of(100, 0.1), run_of(100, 0.1), run_of(100, 0.1)};
  const std::array apart = {run_of(90, 0.1), run_of(110, 0.1), run_of(100, 0.1)};
  EXPECT_FALSE(compare(apart, std::array{run_of(108, 0.1)}, {}).bounds->low > 0);
  EXPECT_TRUE(compare(alike, std::array{run_of(108, 0.1)}, {}).bounds->low > 0);
}

TEST(Compare, NoTimeFallsByMoreThanAllOfIt) {
  const std::array before = {Estimate{.value = 100, .variance = 900, .steps = 2}};
  const std::array after = {Estimate{.value = 60, .variance = 900, .steps = 2}};
  const Difference change = compare(before, after, {});
  ASSERT_TRUE(change.bounds);
  EXPECT_GT(change.bounds->low, -100);
  EXPECT_LT(change.bounds->low, -40);
  EXPECT_GT(change.bounds->high, 0);
}

TEST(Compare, OneStepSaysNothing) {
  const std::array one = {Estimate{.value = 100, .variance = 0, .steps = 1}};
  EXPECT_FALSE(compare(one, std::array{run_of(200, 1)}, {}).bounds);
}

TEST(Compare, SaysHowManyStepsOrRunsItTakes) {
  const std::array noisy = {run_of(100, 2)};
  const Difference change = compare(noisy, noisy, {});
  ASSERT_TRUE(change.enough);
  EXPECT_GT(change.enough->steps, 50);
  EXPECT_GE(change.enough->runs, 2);
  EXPECT_FALSE(compare(std::array{run_of(100, 0.3)}, std::array{run_of(100, 0.3)}, {}).enough);
}

TEST(Compare, NoNumberOfStepsHelpsWhereRunsDifferTooMuch) {
  const std::array noisy = {run_of(100, 2)};
  const Difference change = compare(noisy, noisy, {.spread = 0.02});
  ASSERT_TRUE(change.enough);
  EXPECT_EQ(change.enough->steps, 0);
  EXPECT_GT(change.enough->runs, 2);
}

TEST(OperatorFamily, LeavesOutTheLibrary) {
  EXPECT_EQ(operator_family("aten::cudnn_convolution"), "aten::convolution");
  EXPECT_EQ(operator_family("aten::miopen_convolution"), "aten::convolution");
  EXPECT_EQ(operator_family("aten::_flash_attention_forward"),
            operator_family("aten::_efficient_attention_forward"));
  EXPECT_NE(operator_family("aten::_flash_attention_backward"),
            operator_family("aten::_flash_attention_forward"));
  EXPECT_EQ(operator_family("aten::mm"), "aten::mm");
}

// Steps of a row that lie so far from their mean: two above it, two below.
std::vector<double> row_steps(double mean, double error, int count = 8) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(mean + (i % 4 < 2 ? error : -error));
  return out;
}

std::string_view verdict_of(double before, double after, double error, int count = 8,
                            std::size_t rows = 1) {
  return Verdicts(100'000, rows, false)
      .judge({before, after, {row_steps(before, error, count), row_steps(after, error, count)}})
      .verdict;
}

TEST(Verdict, LittleOfItselfOrOfTheStepIsTheSame) {
  EXPECT_EQ(verdict_of(1000, 1040, 1), "same");
  EXPECT_EQ(verdict_of(10, 60, 1), "same");
  EXPECT_EQ(verdict_of(1000, 1200, 1), "slower");
  EXPECT_EQ(verdict_of(1200, 1000, 1), "faster");
}

TEST(Verdict, WhatMayBeNoiseIsUnsure) {
  EXPECT_EQ(verdict_of(1000, 1200, 300), "unsure");
  EXPECT_EQ(verdict_of(1200, 1000, 300), "unsure");
  EXPECT_EQ(verdict_of(1000, 1200, 300, 200), "slower");  // many steps tell
  EXPECT_EQ(verdict_of(1000, 1200, 0, 1), "unsure");      // one step says nothing
  EXPECT_EQ(Verdicts(100'000, 1, false).judge({1000, 1200, {}}).verdict, "unsure");
}

TEST(Verdict, OfManyRowsSomeLookLargeByChance) {
  EXPECT_EQ(verdict_of(1000, 1200, 120, 8, 1), "slower");
  EXPECT_EQ(verdict_of(1000, 1200, 120, 8, 500), "unsure");
}

}  // namespace
}  // namespace stepscope::analysis
