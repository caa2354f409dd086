// Rules of trainings on the CPU: what each says, and what comes near and must stay silent.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Steps of 10 ms of a training on the CPU, four of them.
Answers cpu_training() {
  return Answers()
      .steps()
      .add("steps", "steps", {{"rank", 0}, {"step", 7}, {"step_ns", 10'000'000}})
      .add("stalls", "kinds", {})
      .no_device_work();
}

Answers::Row part(std::string_view name, std::int64_t ns, std::int64_t short_ns = 0,
                  std::int64_t calls = 0) {
  return {{"rank", 0},
          {"part", name},
          {"mean_ns", static_cast<double>(ns)},
          {"sum_ns", 4 * ns},
          {"short_ns", 4 * short_ns},
          {"longest_ns", ns},
          {"calls", 4 * calls}};
}

Answers::Row steps_of_loop(std::int64_t learning = 6, std::int64_t evaluating = 0,
                           double mean_ns = 10e6) {
  return {{"rank", 0},
          {"steps", 4},
          {"mean_ns", mean_ns},
          {"learning", learning},
          {"evaluating", evaluating}};
}

std::string changes_of(const Finding& finding) {
  std::string out;
  for (const Change& one : finding.changes) out += one.why + "\n" + one.code + "\n";
  return out;
}

bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(OperatorOverhead, ValuesTakenOutOneByOneAreNamedAndSurelyGained) {
  const Advice advice = cpu_training()
                            .add("loop", "steps", steps_of_loop())
                            .add("loop", "parts", part("single values", 6'000'000, 5'000'000, 4800))
                            .advise();
  const Finding* finding = finding_of(advice, "operator-overhead");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_text(finding->title.form, "one at a time"));
  EXPECT_TRUE(has_text(changes_of(*finding), ".tolist()"));
  EXPECT_GE(finding->gain->low, 5'300'000);
  EXPECT_GE(finding->gain->high, 6'000'000);
}

TEST(OperatorOverhead, OperatorsThatComputeAreNone) {
  const Advice advice = cpu_training()
                            .add("loop", "steps", steps_of_loop())
                            .add("loop", "parts", part("forward", 9'000'000, 900'000, 400))
                            .advise();
  EXPECT_EQ(finding_of(advice, "operator-overhead"), nullptr);
}

TEST(OperatorOverhead, AFewOperatorsAreNoLoopOverSmallOnes) {
  const Advice advice = cpu_training()
                            .add("loop", "steps", steps_of_loop())
                            .add("loop", "parts", part("forward", 9'000'000, 9'000'000, 60))
                            .advise();
  EXPECT_EQ(finding_of(advice, "operator-overhead"), nullptr);
}

TEST(OperatorOverhead, WhatTracingAddsIsNone) {
  // Steps that nothing traced take 6 ms: of the 5 ms in short operators 4 are the profiler's.
  const auto answers = [](double untraced_ns) {
    return cpu_training()
        .add("loop", "steps", steps_of_loop())
        .add("loop", "parts", part("forward", 9'000'000, 5'000'000, 900))
        .add("throughput", "phases",
             {{"rank", 0},
              {"phase", "training"},
              {"iterations", 40},
              {"warm_up", 2},
              {"traced", 4},
              {"measured", 34},
              {"iterations_per_second", 1e9 / untraced_ns}});
  };
  EXPECT_EQ(finding_of(answers(6e6).advise(), "operator-overhead"), nullptr);
  EXPECT_NE(finding_of(answers(9.9e6).advise(), "operator-overhead"), nullptr);
}

TEST(OperatorOverhead, FewSamplesAreNamedWithTheirNumber) {
  const Advice advice = cpu_training()
                            .add("loop", "steps", steps_of_loop())
                            .add("loop", "parts", part("forward", 9'000'000, 6'000'000, 900))
                            .add("loader", "loaders",
                                 {{"rank", 0},
                                  {"loader", "DataLoader"},
                                  {"phase", "training"},
                                  {"batches", 40},
                                  {"samples", 80}})
                            .advise();
  const Finding* finding = finding_of(advice, "operator-overhead");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_text(finding->title.form, "too small"));
  EXPECT_TRUE(has_text(finding->changes.front().code, "batch_size"));
}

TEST(Evaluation, TheSameModelIsEvaluatedAndAnotherMayBeATeacher) {
  const auto answers = [](std::int64_t evaluating) {
    return cpu_training()
        .add("loop", "steps", steps_of_loop(6, evaluating))
        .add("loop", "parts", part("no gradients", 4'000'000, 0, 40));
  };
  const Advice same = answers(12).advise();
  const Advice other = answers(7).advise();
  const Finding* evaluated = finding_of(same, "evaluation");
  const Finding* teacher = finding_of(other, "evaluation");
  ASSERT_NE(evaluated, nullptr);
  ASSERT_NE(teacher, nullptr);
  EXPECT_GT(evaluated->gain->low, 3'000'000);
  EXPECT_EQ(teacher->gain->low, 0);
  EXPECT_TRUE(has_text(teacher->detail.form, "teacher"));
  EXPECT_FALSE(has_text(evaluated->detail.form, "teacher"));
}

Answers with_range(std::string_view name, std::int64_t ns) {
  return cpu_training()
      .add("loop", "steps", steps_of_loop())
      .add("loop", "parts", part("forward", 1'000'000))
      .add("time", "times", {{"rank", 0}, {"steps", 4}})
      .add("time", "ranges",
           {{"rank", 0},
            {"where", "main thread"},
            {"range", name},
            {"calls", 4},
            {"total_ns", 4 * ns}});
}

TEST(LoopWork, NamesTheCallbackAndItsHook) {
  const Advice advice =
      with_range("[Callback]LogWeights{'a': 1}.on_train_batch_end", 8'770'000).advise();
  const Finding* finding = finding_of(advice, "loop-work");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title.figures.front().text, "LogWeights");
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_TRUE(has_text(changes_of(*finding), "on_train_batch_end"));
  EXPECT_GE(finding->gain->low, 7'800'000);
}

TEST(LoopWork, TrainingItselfAndWhatHasARuleIsNone) {
  for (const std::string_view name :
       {"[Callback]ModelCheckpoint{'m': None}.on_train_batch_end",
        "[Callback]Stepscope.on_train_batch_end", "[LightningModule]Net.optimizer_step",
        "[Strategy]SingleDeviceStrategy.training_step", "run_training_batch", "backward"}) {
    EXPECT_EQ(finding_of(with_range(name, 8'000'000).advise(), "loop-work"), nullptr) << name;
  }
}

// Two processors, of which the job keeps so many busy.
Answers with_threads(std::int64_t threads, double waited) {
  return cpu_training()
      .add("time", "times", {{"rank", 0}, {"steps", 4}, {"torch_threads", threads}})
      .add("system", "machines",
           {{"node", "n"}, {"processors", 2}, {"cpu_mean_share", 0.95}, {"job_cores", 1.0}})
      .add("system", "processes",
           {{"rank", 0},
            {"node", "n"},
            {"processes", "training"},
            {"most", 1},
            {"mean_cores", 1.0},
            {"waited_share", waited},
            {"usable_cores", 2.0}});
}

TEST(CpuContention, MoreThreadsThanProcessorsAreTheJobsOwnDoing) {
  const Advice advice = with_threads(16, 0.3).advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_text(finding->title.form, "threads on"));
  EXPECT_TRUE(has_text(changes_of(*finding), "OMP_NUM_THREADS=2"));
  EXPECT_FALSE(has_text(finding->detail.form, "not this job's doing"));
}

TEST(CpuContention, OthersOnTheMachineAreNoFaultOfTheJob) {
  const Advice advice = with_threads(2, 0.4).advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_text(finding->detail.form, "not this job's doing"));
  EXPECT_LE(finding->level, Level::kNotice);
}

}  // namespace
}  // namespace stepscope::advice
