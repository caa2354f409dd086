// What recording costs is left out of gains: by an estimate, or by steps that were not traced.
#include "advice/tracing.h"

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;
constexpr double kStep = 10e6;

Answers launching(std::int64_t idle_ns, std::int64_t inside_ns) {
  Answers answers;
  answers.steps().stall("launch", idle_ns, {{"inside_ns", 4 * inside_ns}}).rest();
  answers.add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}});
  return answers;
}

// Steps of the same run without a profiler.
Answers& with_untraced(Answers& answers, double step_ns) {
  return answers.add("throughput", "phases",
                     {{"rank", 0},
                      {"phase", "training"},
                      {"iterations", 100},
                      {"measured", 96},
                      {"traced", 4},
                      {"iterations_per_second", 1e9 / step_ns}});
}

const Finding* launch_of(const Answers& answers, Advice& kept) {
  kept = answers.advise();
  return finding_of(kept, "launch-bound");
}

TEST(Tracing, IsLeftOutOfWhatLaunchingWouldBring) {
  Advice advice;
  const Finding* launch = launch_of(launching(8'000'000, 8'000'000), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_NEAR(static_cast<double>(launch->gain->low), 0.9 * (8e6 - kTracingMost * kStep), 1e3);
  EXPECT_NEAR(static_cast<double>(launch->gain->high), (1 - kTracingLeast) * 8e6, 1e5);
  EXPECT_EQ(launch->level, Level::kCritical);  // 52 %, in the middle of the estimate
  EXPECT_EQ(launch->confidence, Confidence::kMedium);
  EXPECT_NE(launch->detail.form.find("Recording makes this longer"), std::string::npos);
}

TEST(Tracing, CostsOnlyInOperatorsAndCalls) {
  Advice advice;
  const Finding* launch = launch_of(launching(8'000'000, 0), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch->gain->low, 0);  // what is no operator's may be the program's own code
  EXPECT_NEAR(static_cast<double>(launch->gain->high), 8e6, 1e5);
  EXPECT_EQ(launch->level, Level::kCritical);
  EXPECT_EQ(launch->confidence, Confidence::kHigh);
  EXPECT_EQ(launch->detail.form.find("Recording"), std::string::npos);
}

TEST(Tracing, MayBeAllOfASmallWait) {
  Advice advice;
  const Finding* launch = launch_of(launching(3'000'000, 3'000'000), advice);
  ASSERT_NE(launch, nullptr);  // 30 % would be a warning
  EXPECT_EQ(launch->gain->low, 0);
  EXPECT_EQ(launch->level, Level::kNotice);
  EXPECT_EQ(launch->confidence, Confidence::kLow);
}

TEST(Tracing, IsKnownWhereOtherStepsWereNotTraced) {
  Answers answers = launching(8'000'000, 8'000'000);
  Advice advice;
  const Finding* launch = launch_of(with_untraced(answers, 9e6), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_NEAR(static_cast<double>(launch->gain->low), 0.9 * 7e6, 1e3);
  EXPECT_NEAR(static_cast<double>(launch->gain->high), 7e6, 1e5);
  EXPECT_EQ(launch->confidence, Confidence::kHigh);
}

TEST(Tracing, LongerStepsThatWereNotTracedProveNothing) {
  Answers answers = launching(8'000'000, 8'000'000);
  Advice advice;
  const Finding* launch = launch_of(with_untraced(answers, 20e6), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_NEAR(static_cast<double>(launch->gain->low), 0.9 * (8e6 - kTracingMost * kStep), 1e3);
  EXPECT_EQ(launch->confidence, Confidence::kMedium);
}

TEST(Tracing, DoesNotMakeTheCallsThatWaitLonger) {
  const auto low = [](std::int64_t inside_ns) {
    const Advice advice =
        Answers().steps().stall("sync", 4'000'000, {{"inside_ns", 4 * inside_ns}}).advise();
    return static_cast<double>(finding_of(advice, "host-sync")->gain->low);
  };
  EXPECT_NEAR(low(4'000'000), 0.9 * 4e6, 1e3);
  EXPECT_NEAR(low(0), 0.9 * (1 - kTracingMost) * 4e6, 1e3);
}

TEST(Tracing, OfASaveIsNoMoreThanItsCopies) {
  const auto low = [](std::int64_t copies) {
    const Advice advice = Answers().steps().stall("save", 4'000'000, {{"count", copies}}).advise();
    return static_cast<double>(finding_of(advice, "checkpoint-stall")->gain->low);
  };
  EXPECT_NEAR(low(4), 0.9 * (4e6 - 50e3), 1e3);
  EXPECT_NEAR(low(4000), 0.9 * (1 - kTracingMost) * 4e6, 1e3);
}

}  // namespace
}  // namespace stepscope::advice
