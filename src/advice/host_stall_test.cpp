// Ranks are weighed and evidence is chosen for waits of the host.
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
  EXPECT_NEAR(static_cast<double>(gain_of({1, 5, 1, 5}, {8, 12, 8, 12}).low), 0.9 * 3e6 - 1.1547e6,
              100);
}

// Idle time that is another's in the next step changes nothing of the sum.
TEST(SpreadOfIdle, IsNoMoreThanThatOfTheSteps) {
  EXPECT_EQ(gain_of({1, 5, 1, 5}, {10, 10, 10, 10}).low, 2'700'000);
}

// Steps that were played again without recording.
double host_stall_low_of(std::int64_t without_profiler_ns, double untraced_step_ns = 0) {
  Answers answers;
  answers.steps().stall("sync", 4'000'000,
                        {{"inside_ns", 0}, {"without_profiler_ns", without_profiler_ns}});
  if (untraced_step_ns > 0) {
    answers.add("throughput", "phases",
                {{"rank", 0},
                 {"phase", "training"},
                 {"iterations", 100},
                 {"measured", 96},
                 {"traced", 4},
                 {"iterations_per_second", 1e9 / untraced_step_ns}});
  }
  return static_cast<double>(finding_of(answers.advise(), "host-sync")->gain->low);
}

TEST(Sure, IsWhatIsLeftWithoutRecording) {
  EXPECT_NEAR(host_stall_low_of(4 * 1'500'000), 1.5e6, 1e3);
  EXPECT_NEAR(host_stall_low_of(4 * 3'000'000), 3e6, 1e3);
}

TEST(Sure, IsNineTenthsWhereRecordingIsLess) {
  EXPECT_NEAR(host_stall_low_of(4 * 3'900'000), 3.6e6, 1e3);
}

TEST(Sure, LeavesOutNoMoreThanTracedStepsAreLonger) {
  EXPECT_NEAR(host_stall_low_of(4 * 1'500'000, 9e6), 3e6, 1e3);
  EXPECT_NEAR(host_stall_low_of(4 * 1'500'000, 6e6), 1.5e6, 1e3);
}

TEST(Sure, OfAPauseIsWhatTheGpuHasNoWorkFor) {
  const auto low = [](std::int64_t without_profiler_ns) {
    const Advice advice = Answers()
                              .steps()
                              .stall("pause", 4'000'000,
                                     {{"host_ns", 4 * 5'000'000},
                                      {"longest_ns", 4'000'000},
                                      {"without_profiler_ns", 4 * without_profiler_ns}})
                              .advise();
    return static_cast<double>(finding_of(advice, "host-pause")->gain->low);
  };
  EXPECT_NEAR(low(1'000'000), 1e6, 1e3);
  EXPECT_NEAR(low(4'000'000), 3.6e6, 1e3);
}

}  // namespace
}  // namespace stepscope::advice
