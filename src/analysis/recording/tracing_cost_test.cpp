#include "analysis/recording/tracing_cost.h"

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

constexpr base::Nanos kTracingCostMs = 1'000'000;

// Every fourth step waits for data; of 40 steps three that follow each other are traced.
std::vector<RecordedStep> bursty(std::int64_t first_traced, base::Nanos cost) {
  std::vector<RecordedStep> steps;
  base::Nanos start = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const bool traced = i >= first_traced && i < first_traced + 3;
    const base::Nanos length = (i % 4 == 0 ? 40 : 10) * kTracingCostMs + (traced ? cost : 0);
    steps.push_back({.number = i, .start = start, .length = length, .traced = traced});
    start += length;
  }
  return steps;
}

TEST(TracingCost, IsTheDifferenceOfTheMeansWhereStepsAreAlike) {
  std::vector<RecordedStep> steps;
  for (std::int64_t i = 0; i < 40; ++i) {
    const bool traced = i >= 20 && i < 25;
    steps.push_back({.number = i,
                     .start = i * 20 * kTracingCostMs,
                     .length = 10 * kTracingCostMs + (i % 2) * kTracingCostMs / 10 +
                               (traced ? 3 * kTracingCostMs : 0),
                     .traced = traced});
  }
  const auto cost = tracing_cost(steps);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->ns, 3e6, 0.05e6);
  EXPECT_TRUE(cost->is_measurable());
  EXPECT_LT(cost->low_ns, 3e6);
  EXPECT_GT(cost->high_ns, 3e6);
  EXPECT_TRUE(tracing_cost_text(*cost).starts_with("Tracing made a step 2.99 ms longer"));
}

TEST(TracingCost, IsNotMeasurableWhereStepsDifferByMore) {
  // The three traced steps met no wait: they are shorter than the mean of the others.
  const auto cost = tracing_cost(bursty(21, 1 * kTracingCostMs));
  ASSERT_TRUE(cost);
  EXPECT_LT(cost->ns, 0);
  EXPECT_FALSE(cost->is_measurable());
  EXPECT_NE(tracing_cost_text(*cost).find("not measurable"), std::string::npos);
}

TEST(TracingCost, NeedsTwoStepsOfEachKind) {
  std::vector<RecordedStep> steps = bursty(21, 0);
  for (RecordedStep& step : steps) step.traced = step.number == 21;
  EXPECT_FALSE(tracing_cost(steps));
  for (RecordedStep& step : steps) step.traced = true;
  EXPECT_FALSE(tracing_cost(steps));
}

}  // namespace
}  // namespace stepscope::analysis
