// What recording costs is left out of gains: by an estimate, or by steps that were not traced.
#include "advice/tracing.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;
constexpr double kStep = 10e6;

Answers launching_tracing(std::int64_t idle_ns, std::int64_t inside_ns) {
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

std::string words_of_tracing(const Advice& advice) {
  std::string out;
  for (const Sentence& one : advice.verdict) out += one.form + "\n";
  return out;
}

TEST(Tracing, IsLeftOutOfWhatLaunchingWouldBring) {
  Advice advice;
  const Finding* launch = launch_of(launching_tracing(8'000'000, 8'000'000), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_NEAR(static_cast<double>(launch->gain->low), 0.9 * (8e6 - kTracingMost * kStep), 1e3);
  EXPECT_NEAR(static_cast<double>(launch->gain->high), (1 - kTracingLeast) * 8e6, 1e5);
  EXPECT_EQ(launch->level, Level::kCritical);  // 52 %, in the middle of the estimate
  EXPECT_EQ(launch->confidence, Confidence::kMedium);
  EXPECT_NE(launch->detail.form.find("Recording makes this longer"), std::string::npos);
}

TEST(Tracing, CostsOnlyInOperatorsAndCalls) {
  Advice advice;
  const Finding* launch = launch_of(launching_tracing(8'000'000, 0), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch->gain->low, 0);  // what is no operator's may be the program's own code
  EXPECT_NEAR(static_cast<double>(launch->gain->high), 8e6, 1e5);
  EXPECT_EQ(launch->level, Level::kCritical);
  EXPECT_EQ(launch->confidence, Confidence::kMedium);  // nothing is sure
  EXPECT_EQ(launch->detail.form.find("Recording"), std::string::npos);
}

TEST(Tracing, MayBeAllOfASmallWait) {
  Advice advice;
  const Finding* launch = launch_of(launching_tracing(3'000'000, 3'000'000), advice);
  ASSERT_NE(launch, nullptr);  // 30 % would be a warning
  EXPECT_EQ(launch->gain->low, 0);
  EXPECT_EQ(launch->level, Level::kInfo);
  EXPECT_EQ(launch->confidence, Confidence::kLow);
  EXPECT_NE(launch->detail.form.find("--step-time"), std::string::npos);
}

// What the user says of a step without a profiler is as good as steps that were recorded so.
TEST(Tracing, IsKnownByTheTimeOfAStepThatIsGiven) {
  const auto with = [](double step_ns) {
    Advice advice = launching_tracing(3'000'000, 3'000'000).step_time(step_ns).advise();
    return std::pair(*finding_of(advice, "launch-bound"), words_of_tracing(advice));
  };
  const auto [waits, words] = with(9'500'000);
  EXPECT_EQ(waits.level, Level::kWarning);  // 2.5 ms are left
  EXPECT_NEAR(static_cast<double>(waits.gain->low), 0.9 * 2.5e6, 1e3);
  EXPECT_NE(words.find("as was said"), std::string::npos);
  EXPECT_EQ(with(7'000'000).first.level, Level::kInfo);  // it was all of it
  EXPECT_EQ(with(7'000'000).first.gain->low, 0);
}

TEST(Tracing, IsKnownWhereOtherStepsWereNotTraced) {
  Answers answers = launching_tracing(8'000'000, 8'000'000);
  Advice advice;
  const Finding* launch = launch_of(with_untraced(answers, 9e6), advice);
  ASSERT_NE(launch, nullptr);
  EXPECT_NEAR(static_cast<double>(launch->gain->low), 0.9 * 7e6, 1e3);
  EXPECT_NEAR(static_cast<double>(launch->gain->high), 7e6, 1e5);
  EXPECT_EQ(launch->confidence, Confidence::kHigh);
}

TEST(Tracing, LongerStepsThatWereNotTracedProveNothing) {
  Answers answers = launching_tracing(8'000'000, 8'000'000);
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

// Traced steps may be the shorter ones: other programs were at work beside the others.
TEST(Tracing, IsNotSaidToSlowStepsThatWereShorter) {
  const auto words = [](double step_ns) {
    Answers answers = launching_tracing(8'000'000, 8'000'000);
    return words_of_tracing(with_untraced(answers, step_ns).advise());
  };
  EXPECT_NE(words(9e6).find("which tracing may slow: {} others"), std::string::npos);
  EXPECT_EQ(words(20e6).find("may slow"), std::string::npos);
  EXPECT_NE(words(20e6).find("{} others, without warm-up, took longer: {}"), std::string::npos);
}

// `--step 11` of a run: that step is traced, and there is no other to compare it with.
TEST(Tracing, StepsThatWereChosenAreNoOthersOfThemselves) {
  Answers answers;
  answers
      .add("steps", "times",
           {{"rank", 0}, {"steps", 1}, {"mean_ns", 10e6}, {"median_ns", 10'000'000}})
      .stall("launch", 8'000'000)
      .rest()
      .add("launches", "ranks", {{"rank", 0}, {"work", 400}})
      .add("throughput", "phases",
           {{"rank", 0},
            {"phase", "training"},
            {"iterations", 1},
            {"warm_up", 0},
            {"traced", 1},
            {"warm_up_traced", 0},
            {"measured", 1},
            {"iterations_per_second", 100.0}});
  const Advice advice = answers.advise({}, Framework::kPyTorch, {.chosen_steps = true});
  EXPECT_EQ(words_of_tracing(advice).find("others"), std::string::npos);
  EXPECT_EQ(words_of_tracing(advice).find("recorded, so that"), std::string::npos);
  EXPECT_NE(words_of_tracing(advice).find("Only one step was chosen"), std::string::npos);
}

// What is said of steps that were not traced is as sure as they are many.
TEST(Tracing, TooFewTracedStepsAreSaidToBeTraced) {
  const auto title = [](bool others) {
    Answers answers;
    answers.steps();
    for (const std::int64_t length : {2'000'000, 10'000'000, 10'000'000, 30'000'000}) {
      answers.add("steps", "steps", {{"rank", 0}, {"step", 1}, {"step_ns", length}});
    }
    if (others) with_untraced(answers, 9e6);
    return finding_of(answers.advise(), "few-steps")->title.form;
  };
  EXPECT_TRUE(title(false).starts_with("Too few steps were recorded: "));
  EXPECT_TRUE(title(true).starts_with("Too few steps were traced: "));
}

// A run that was recorded whole says how much its steps differ, however few of them were traced.
TEST(Tracing, FewTracedStepsAreEnoughWhereTheOthersAreKnown) {
  const auto with = [](std::int64_t measured, double spread) {
    Answers answers;
    answers.steps();
    for (const std::int64_t length : {2'000'000, 10'000'000, 30'000'000}) {
      answers.add("steps", "steps", {{"rank", 0}, {"step", 1}, {"step_ns", length}});
    }
    answers.add("throughput", "phases",
                {{"rank", 0},
                 {"phase", "training"},
                 {"iterations", measured + 3},
                 {"measured", measured},
                 {"traced", 3},
                 {"spread", spread},
                 {"iterations_per_second", 100.0}});
    const Advice advice = answers.advise();
    const Finding* const found = finding_of(advice, "few-steps");
    return found == nullptr ? std::string() : found->title.form;
  };
  EXPECT_EQ(with(20, 0.3), "");
  EXPECT_EQ(with(200, 2.0), "");
  EXPECT_TRUE(with(20, 2.0).starts_with("Steps differ too much: "));
  EXPECT_TRUE(with(3, 0.1).starts_with("Too few steps were traced: "));
}

}  // namespace
}  // namespace stepscope::advice
