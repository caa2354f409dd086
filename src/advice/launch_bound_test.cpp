// Slow launching, and what of it is the recording by playing the steps again.
#include <algorithm>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Waits in each step of 10 ms.
Answers waiting_launch_bound(std::int64_t idle_ns, const Answers::Row& more = {}) {
  Answers answers;
  answers.steps().stall("launch", idle_ns, more).rest();
  return answers.add("launches", "ranks", {{"rank", 0}, {"work", 400}});
}

// Of 2 ms so much is left without recording.
Answers launching_launch_bound(std::int64_t usual_ns, std::int64_t least_ns) {
  return waiting_launch_bound(2'000'000,
                              {{"usual_ns", 4 * usual_ns}, {"without_profiler_ns", 4 * least_ns}});
}

TEST(LaunchBound, LeavesOutWhatRecordingUsuallyAdds) {
  const Advice advice = launching_launch_bound(600'000, 100'000).advise();
  const Finding* finding = finding_of(advice, "launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kInfo);  // it may be all of it
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->gain->high, 650'000);  // and noise
}

// Recording may cost more than the most of the replay, by as much again as that is above the usual.
TEST(LaunchBound, IsNoFaultWhereRecordingMayBeAllOfIt) {
  const auto with = [](std::int64_t usual_ns, std::int64_t least_ns) {
    return *finding_of(waiting_launch_bound(4'000'000, {{"usual_ns", 4 * usual_ns},
                                                        {"without_profiler_ns", 4 * least_ns}})
                           .advise(),
                       "launch-bound");
  };
  const Finding all = with(2'800'000, 1'400'000);
  EXPECT_EQ(all.level, Level::kInfo);
  EXPECT_EQ(all.gain->low, 0);
  EXPECT_NE(all.detail.form.find("It may be all of it"), std::string::npos);
  EXPECT_EQ(with(3'600'000, 3'200'000).level, Level::kWarning);
}

// The first steps of a recording take the profiler longer: what launching takes is in all of them.
TEST(LaunchBound, IsWhatShortStepsWaitFor) {
  const auto with = [](std::int64_t first_ns) {
    Answers answers;
    answers.steps().stall("launch", 4'000'000,
                          {{"usual_ns", 4 * 3'400'000}, {"without_profiler_ns", 4 * 2'800'000}});
    answers.add("launches", "ranks", {{"rank", 0}, {"work", 400}});
    for (int step = 0; step < 4; ++step) {
      const std::int64_t idle = step == 0 ? first_ns : (16'000'000 - first_ns) / 3;
      answers.add("steps", "steps", {{"rank", 0}, {"step", step}, {"step_ns", 10'000'000}});
      answers.add("stalls", "steps",
                  {{"rank", 0}, {"step", step}, {"stall", "launch"}, {"idle_ns", idle}});
    }
    return finding_of(answers.advise(), "launch-bound")->level;
  };
  EXPECT_EQ(with(4'000'000), Level::kWarning);
  EXPECT_EQ(with(8'000'000), Level::kNotice);  // 1.8 of 2.7 ms are left
  EXPECT_EQ(with(12'000'000), Level::kInfo);
}

TEST(LaunchBound, IsNoneWhereRecordingIsNearlyAll) {
  EXPECT_EQ(finding_of(launching_launch_bound(490'000, 100'000).advise(), "launch-bound"), nullptr);
  // Nothing tells: the waits are as they are.
  const Advice unknown = waiting_launch_bound(2'000'000).advise();
  EXPECT_NE(finding_of(unknown, "launch-bound"), nullptr);
}

TEST(LaunchBound, WarnsWhereEnoughIsLeft) {
  const Advice advice = waiting_launch_bound(6'000'000, {{"usual_ns", 4 * 4'000'000},
                                                         {"without_profiler_ns", 4 * 3'000'000}})
                            .advise();
  const Finding* finding = finding_of(advice, "launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  // The estimate of 0.42 of the step is more than what the play takes off.
  EXPECT_EQ(finding->gain->low, 1'620'000);
  EXPECT_EQ(finding->gain->high, 4'050'000);
}

// A recording of 10 ms steps that begins with the start of CUDA: what every step has is left.
TEST(LaunchBound, LeavesOutWaitsThatCameOnce) {
  const auto with = [](std::int64_t once_ns, std::int64_t waits, std::int64_t others_ns) {
    return waiting_launch_bound((once_ns + others_ns) / 4)
        .add("stalls", "places",
             {{"rank", 0},
              {"stall", "launch"},
              {"op", "aten::to"},
              {"call", "cudaStreamCreateWithFlags"},
              {"waits", waits},
              {"idle_ns", once_ns + others_ns},
              {"longest_ns", once_ns},
              {"step", 0},
              {"event", 7}})
        .advise();
  };
  const Advice once = with(20'000'000, 1, 0);
  EXPECT_EQ(finding_of(once, "launch-bound"), nullptr);
  const auto says_it_came_once = [](const Advice& advice) {
    return std::ranges::any_of(advice.verdict, [](const Sentence& one) {
      return one.form.find("come once in a training") != std::string::npos;
    });
  };
  EXPECT_TRUE(says_it_came_once(once));
  const Advice beside = with(20'000'000, 101, 8'000'000);
  ASSERT_NE(finding_of(beside, "launch-bound"), nullptr);
  EXPECT_EQ(finding_of(beside, "launch-bound")->measured.value, 0.2);
  EXPECT_FALSE(finding_of(beside, "launch-bound")->evidence.front().event);
  // As long in every step: it did not come once.
  const Advice each = with(11'000'000, 3, 22'000'000);
  ASSERT_NE(finding_of(each, "launch-bound"), nullptr);
  EXPECT_FALSE(says_it_came_once(each));
}

// A chain of small passes is worth a word where the CPU only seems to be slow, and where it is slow
// because it launches the chain.
TEST(LaunchBound, HidesNoChainsWhereItIsNone) {
  const auto with = [](std::int64_t usual_ns, int chains) {
    return launching_launch_bound(usual_ns, 0)
        .add("patterns", "chains",
             {{"rank", 0},
              {"kernels", 9},
              {"count", chains},
              {"device_ns", 12'000'000},
              {"saves_least_ns", 2'000'000},
              {"saves_ns", 8'000'000},
              {"saves_most_ns", 8'000'000}})
        .advise();
  };
  EXPECT_NE(finding_of(with(100'000, 4), "unfused-chains"), nullptr);
  EXPECT_EQ(finding_of(with(600'000, 4), "unfused-chains"), nullptr);
  const Advice chains = with(600'000, 40);
  ASSERT_NE(finding_of(chains, "unfused-chains"), nullptr);
  EXPECT_GT(finding_of(chains, "unfused-chains")->gain->high, 2'000'000);  // what the CPU saves
}

// Work that is not done again is not launched either.
TEST(LaunchBound, ComesBehindWorkDoneTwice) {
  const Advice advice =
      launching_launch_bound(1'800'000, 0)
          .add("mfu", "steps",
               {{"rank", 0}, {"step", 1}, {"compute_ns", 9}, {"recomputed_ns", 4 * 600'000}})
          .add("operators", "operators", {{"rank", 0}, {"name", "aten::mm"}})
          .advise();
  ASSERT_NE(finding_of(advice, "launch-bound"), nullptr);
  ASSERT_NE(finding_of(advice, "recompute"), nullptr);
  EXPECT_EQ(advice.findings.front().rule, "recompute");
}

}  // namespace
}  // namespace stepscope::advice
