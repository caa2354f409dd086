// An optimizer of many small kernels, alone and beside slow launching.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

Answers optimizer_rule(std::int64_t pieces, std::int64_t piece_ns, std::int64_t idle_ns,
                       std::int64_t lead_ns = 0, base::Cell without_profiler_ns = base::Null{}) {
  Answers answers;
  const std::int64_t work_ns = pieces * piece_ns;
  answers.steps().stall("optimizer", idle_ns,
                        {{"work", 4 * pieces},
                         {"work_ns", 4 * work_ns},
                         {"host_ns", 4 * (idle_ns + work_ns + lead_ns)},
                         {"without_profiler_ns", without_profiler_ns}});
  return answers;
}

TEST(UnfusedOptimizer, ManySmallKernels) {
  const Advice advice = optimizer_rule(600, 2'000, 3'000'000).advise();
  const Finding* finding = finding_of(advice, "unfused-optimizer");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  // Of 3 ms of waits a profiler may be 0.42; 0.9 of what is left.
  EXPECT_EQ(finding->gain->low, 1'566'000);
  // A host that is ahead is further ahead without one, by 0.42 of the whole step at the most.
  const Advice ahead = optimizer_rule(600, 2'000, 5'000'000, 1'800'000).advise();
  EXPECT_EQ(finding_of(ahead, "unfused-optimizer")->gain->low, 720'000);
  EXPECT_EQ(finding_of(optimizer_rule(99, 2'000, 3'000'000).advise(), "unfused-optimizer"),
            nullptr);
  EXPECT_EQ(finding_of(optimizer_rule(600, 20'000, 3'000'000).advise(), "unfused-optimizer"),
            nullptr);
  EXPECT_EQ(finding_of(optimizer_rule(600, 2'000, 400'000).advise(), "unfused-optimizer"), nullptr);
}

TEST(UnfusedOptimizer, SaysWhereRecordingMayBeMore) {
  const auto with = [](std::int64_t without_profiler_ns) {
    return optimizer_rule(600, 2'000, 3'000'000, 0, 4 * without_profiler_ns).advise();
  };
  const auto says = [](const Advice& advice) {
    const Finding* finding = finding_of(advice, "unfused-optimizer");
    return finding->about_gain.form.find("The profiler itself may cause more") != std::string::npos;
  };
  EXPECT_TRUE(says(with(1'000'000)));
  EXPECT_EQ(finding_of(with(1'000'000), "unfused-optimizer")->confidence, Confidence::kMedium);
  EXPECT_FALSE(says(with(1'600'000)));
  EXPECT_FALSE(says(optimizer_rule(600, 2'000, 3'000'000).advise()));
}

TEST(LaunchBound, BesideTheOptimizerItSaysHowToRecordAgainToo) {
  const Advice advice = optimizer_rule(600, 2'000, 3'000'000)
                            .stall("launch", 8'000'000)
                            .add("launches", "ranks", {{"rank", 0}, {"work", 400}})
                            .advise();
  const Finding* finding = finding_of(advice, "launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(finding->verify.starts_with("Record again (")) << finding->verify;
}

}  // namespace
}  // namespace stepscope::advice
