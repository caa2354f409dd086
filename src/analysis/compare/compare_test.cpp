// The statistic behind `diff` and `check`: known quantiles, what is warm-up, what an interval
// holds.
#include <array>
#include <cmath>
#include <limits>
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

TEST(Warmup, EndsWhereThreeStepsAreLikeTheRest) {
  EXPECT_EQ(warmup_steps(std::vector<double>{400, 20, 10, 10, 10, 10, 10, 10}), 2u);
  EXPECT_EQ(warmup_steps(std::vector<double>{2, 2, 10, 10, 10, 10, 10, 10}), 2u);  // a full queue
}

TEST(Warmup, AStragglerLaterOnIsNone) {
  EXPECT_EQ(warmup_steps(std::vector<double>{10, 10, 10, 40, 10, 10, 10, 10, 10, 10}), 0u);
  EXPECT_EQ(warmup_steps(std::vector<double>{40, 10, 10, 10, 40, 10, 10, 10, 10, 10}), 1u);
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

TEST(Verdict, LittleOfItselfOrOfTheStepIsTheSame) {
  EXPECT_EQ(verdict_of(1000, 1040, 100'000), "same");
  EXPECT_EQ(verdict_of(10, 60, 100'000), "same");
  EXPECT_EQ(verdict_of(1000, 1200, 100'000), "slower");
  EXPECT_EQ(verdict_of(1200, 1000, 100'000), "faster");
}

}  // namespace
}  // namespace stepscope::analysis
