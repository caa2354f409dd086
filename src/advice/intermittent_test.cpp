// What happens in some steps only: how often a training does it, and what follows for the gain.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/host_stall.h"

namespace stepscope::advice {
namespace {

TEST(RateOf, WhatComesEverySoManyStepsHoldsEveryDistanceThatFits) {
  // Every `apart` steps, seen through windows of any length, begun anywhere.
  for (std::int64_t apart = 2; apart <= 7; ++apart) {
    for (std::int64_t steps = 2; steps <= 20; ++steps) {
      for (std::int64_t first = 0; first < apart; ++first) {
        Window window{.steps = steps, .hit = {}};
        for (std::int64_t at = first; at < steps; at += apart) window.hit.push_back(at);
        if (window.hit.empty() || std::ssize(window.hit) == steps) continue;
        const Rate rate = rate_of({window});
        SCOPED_TRACE(testing::Message() << apart << " " << steps << " " << first);
        EXPECT_TRUE(rate.regular);
        EXPECT_LE(rate.least, 1.0 / static_cast<double>(apart) + 1e-9);
        EXPECT_GE(rate.most, 1.0 / static_cast<double>(apart) - 1e-9);
      }
    }
  }
}

TEST(RateOf, KnowsLittleOfFewStepsAndMoreOfMany) {
  const Rate few = rate_of({{.steps = 4, .hit = {0, 3}}});
  EXPECT_NEAR(few.least, 1.0 / 3, 1e-9);
  EXPECT_NEAR(few.most, 0.6, 1e-9);
  EXPECT_EQ(few.every, 0);
  const Rate many = rate_of({{.steps = 40, .hit = {0, 10, 20, 31}}});
  EXPECT_LT(many.most - many.least, 0.05);
  EXPECT_EQ(many.every, 0);
  const Rate once = rate_of({{.steps = 5, .hit = {2}}});
  EXPECT_EQ(once.least, 0);  // it may never come again
  const Rate windows = rate_of({{.steps = 4, .hit = {1}}, {.steps = 4, .hit = {2}}});
  EXPECT_EQ(windows.least, 0);
  EXPECT_NEAR(windows.most, 0.4, 1e-9);
  EXPECT_EQ(rate_of({{.steps = 2, .hit = {0, 1}}}).least, 1);
}

TEST(RateOf, ThreeTimesAtTheSameDistanceAreEverySoManySteps) {
  const Rate rate = rate_of({{.steps = 10, .hit = {0, 3, 6, 9}}});
  EXPECT_EQ(rate.every, 3);
  EXPECT_NEAR(rate.least, 1.0 / 3, 1e-9);  // not four in ten
  EXPECT_NEAR(rate.most, 1.0 / 3, 1e-9);
  // It would have come in the first step, too; in nine steps no more often, in twelve once more.
  EXPECT_EQ(rate_of({{.steps = 4, .hit = {1, 2, 3}}}).every, 0);
  EXPECT_EQ(rate_of({{.steps = 9, .hit = {0, 3, 6}}}).every, 3);
  EXPECT_EQ(rate_of({{.steps = 12, .hit = {0, 3, 6}}}).every, 0);
  // Two pairs in two windows say the same; two that differ do not.
  EXPECT_EQ(rate_of({{.steps = 6, .hit = {0, 4}}, {.steps = 6, .hit = {1, 5}}}).every, 4);
  EXPECT_EQ(rate_of({{.steps = 6, .hit = {0, 4}}, {.steps = 6, .hit = {1, 4}}}).every, 0);
}

TEST(RateOf, WithoutOrderIsAnIntervalOfShares) {
  const Rate rate = rate_of({{.steps = 20, .hit = {0, 1, 9, 12, 19}}});
  EXPECT_FALSE(rate.regular);
  EXPECT_NEAR(rate.least, 0.112, 1e-3);  // Wilson's interval of 5 in 20
  EXPECT_NEAR(rate.most, 0.469, 1e-3);
}

// 4 ms in each of these steps, of four of 10 ms.
Advice paused_in(std::string_view sort, const std::vector<std::int64_t>& hit) {
  AnswersForTests answers;
  const auto count = static_cast<std::int64_t>(hit.size());
  answers.steps();
  answers.stall(sort, count * 1'000'000,
                {{"count", count},
                 {"steps", count},
                 {"host_ns", count * 4'000'000},
                 {"longest_ns", 4'000'000}});
  for (std::int64_t step = 0; step < 4; ++step) {
    answers.add("steps", "steps",
                {{"rank", 0}, {"window", 0}, {"step", 4 + step}, {"step_ns", 10'000'000}});
  }
  for (const std::int64_t step : hit) {
    answers.add("stalls", "steps",
                {{"rank", 0}, {"window", 0}, {"step", 4 + step}, {"stall", sort}, {"count", 1}});
  }
  return answers.advise();
}

TEST(Intermittent, TheGainHoldsForATrainingThatDoesItMoreRarelyOrMoreOften) {
  for (const auto& [sort, rule] :
       {std::pair<std::string_view, std::string_view>{"pause", "host-pause"},
        {"collector", "garbage-collector"}}) {
    SCOPED_TRACE(rule);
    const Advice advice = paused_in(sort, {0, 3});
    const Finding* finding = finding_of(advice, rule);
    ASSERT_NE(finding, nullptr);
    ASSERT_TRUE(finding->here);
    EXPECT_EQ(finding->here->low, 1'800'000);  // of these steps: nine tenths of 2 ms
    EXPECT_NEAR(static_cast<double>(finding->gain->low), 1.2e6, 2);  // every third step
    EXPECT_NEAR(static_cast<double>(finding->gain->high),
                static_cast<double>(finding->here->high) * 1.2, 2);
    EXPECT_NE(finding->detail.form.find("recorded steps"), std::string::npos);
    // What the recorded steps would take is known.
    EXPECT_EQ(advice.verdict.front().figures.back().value,
              static_cast<double>(finding->here->high) / 10e6);
  }
}

TEST(Intermittent, InEveryStepNothingIsInDoubt) {
  const Advice advice = paused_in("pause", {0, 1, 2, 3});
  const Finding* finding = finding_of(advice, "host-pause");
  ASSERT_NE(finding, nullptr);
  EXPECT_FALSE(finding->here);
  EXPECT_EQ(finding->detail.form.find("recorded steps"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::advice
