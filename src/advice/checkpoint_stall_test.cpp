// Saves that a program recorded itself, in a run without a trace and in one whose traced steps do
// not save.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Steps of 10 ms, recorded without a trace.
Answers recorded_checkpoint_stall() {
  return Answers().add("throughput", "phases",
                       {{"rank", 0},
                        {"phase", "training"},
                        {"measured", 50},
                        {"iterations_per_second", 100.0},
                        {"median_per_second", 100.0}});
}

// Saves took this share of the time.
Answers saved(double save_share, std::int64_t saves = 8) {
  return recorded_checkpoint_stall().add("throughput", "saves",
                                         {{"rank", 0},
                                          {"saves", saves},
                                          {"save_ns", 4'000'000'000},
                                          {"save_share", save_share},
                                          {"mean_ns", 5e8},
                                          {"max_ns", 600'000'000}});
}

TEST(RecordedSaves, AreJudgedWhereThereIsNoTrace) {
  EXPECT_EQ(recorded_checkpoint_stall().advise().judged, 0u);  // whether it saves is not known
  EXPECT_EQ(saved(0.04).advise().judged, 1u);
  EXPECT_EQ(finding_of(saved(0.04).advise(), "checkpoint-stall"), nullptr);
  const Advice often = saved(0.4).advise();
  const Finding* finding = finding_of(often, "checkpoint-stall");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_FALSE(finding->gain);  // of no step
  const Advice once = saved(0.4, 1).advise();
  ASSERT_NE(finding_of(once, "checkpoint-stall"), nullptr);
  EXPECT_EQ(finding_of(once, "checkpoint-stall")->level, Level::kNotice);
}

TEST(RecordedSaves, AreJudgedWhereNoTracedStepSaves) {
  const Advice device = saved(0.4).steps().stall("sync", 1).advise();
  EXPECT_NE(finding_of(device, "checkpoint-stall"), nullptr);
  const Advice host = saved(0.4).steps().stall("sync", 1).no_device_work().advise();
  EXPECT_NE(finding_of(host, "checkpoint-stall"), nullptr);
  // Steps that were traced while they saved say more.
  const Advice traced = saved(0.4).steps().stall("save", 4'000'000).advise();
  ASSERT_NE(finding_of(traced, "checkpoint-stall"), nullptr);
  EXPECT_TRUE(finding_of(traced, "checkpoint-stall")->gain);
}

}  // namespace
}  // namespace stepscope::advice
