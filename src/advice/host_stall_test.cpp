#include "advice/host_stall.h"

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Four steps that give memory back, with so much idle time for it, and so long.
Gain gain_of(const std::vector<std::int64_t>& idle_ms, const std::vector<std::int64_t>& length_ms) {
  Answers answers;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < idle_ms.size(); ++i) {
    sum += idle_ms[i] * 1'000'000;
    const auto step = static_cast<std::int64_t>(i);
    answers.add("stalls", "steps",
                {{"rank", 0},
                 {"step", step},
                 {"stall", "allocator"},
                 {"count", 5},
                 {"idle_ns", idle_ms[i] * 1'000'000}});
    answers.add("steps", "steps",
                {{"rank", 0}, {"step", step}, {"step_ns", length_ms[i] * 1'000'000}});
  }
  answers.steps().stall("allocator", sum / 4);
  return *finding_of(answers.advise(), "allocator-churn")->gain;
}

TEST(SpreadOfIdle, IsLeftOutOfTheLowerBound) {
  EXPECT_EQ(gain_of({3, 3, 3, 3}, {10, 10, 10, 10}).low, 2'700'000);
  // A standard error of 1.155 ms, and the steps are as different.
  EXPECT_NEAR(static_cast<double>(gain_of({1, 5, 1, 5}, {8, 12, 8, 12}).low), 0.9 * 1.8453e6, 100);
}

// Idle time that is another's in the next step changes nothing of the sum.
TEST(SpreadOfIdle, IsNoMoreThanThatOfTheSteps) {
  EXPECT_EQ(gain_of({1, 5, 1, 5}, {10, 10, 10, 10}).low, 2'700'000);
}

}  // namespace
}  // namespace stepscope::advice
