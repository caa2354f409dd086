// What rules about work of the host say, and where they keep silent.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

// Four steps of 10 ms in which the CPU prepares data for 4 ms.
AnswersForTests prepared_data(std::int64_t operators_ns, std::int64_t quiet_ns,
                              std::string_view purpose) {
  AnswersForTests answers;
  answers.steps().rest().stall("data", 4'000'000).stall("launch", 1);
  answers.add("host-work", "tasks",
              {{"rank", 0},
               {"task", "data"},
               {"episodes", 4},
               {"steps", 4},
               {"host_ns", 16'800'000},
               {"longest_ns", 4'200'000},
               {"operators_ns", 4 * operators_ns},
               {"quiet_ns", 4 * quiet_ns},
               {"up", 4},
               {"up_bytes", 4 << 20},
               {"pageable_bytes", 4 << 20}});
  if (operators_ns > 0) {
    AnswersForTests::Row row = {{"rank", 0},
                                {"task", "data"},
                                {"op", "aten::normal_"},
                                {"calls", 4},
                                {"window", 0},
                                {"sum_ns", 4 * operators_ns},
                                {"longest_ns", 4'000'000}};
    if (!purpose.empty()) row.emplace_back("purpose", purpose);
    answers.add("host-work", "operators", row);
  }
  return answers;
}

TEST(HostData, RandomNumbersAreMadeOnTheGpu) {
  const Advice advice = prepared_data(4'000'000, 0, "random").advise();
  const Finding* finding = finding_of(advice, "host-data");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(&advice.findings.front(), finding);
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_NE(finding->title.form.find("random"), std::string::npos);
  EXPECT_NE(finding->changes.front().code.find("device=\"cuda\""), std::string::npos);
  EXPECT_LE(finding->gain->low, 4'000'000);
  EXPECT_GE(finding->gain->high, 4'000'000);
}

TEST(HostData, OtherOperatorsGoToWorkers) {
  const Advice advice = prepared_data(4'000'000, 0, "").advise();
  const Finding* finding = finding_of(advice, "host-data");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title.form.find("random"), std::string::npos);
  EXPECT_NE(finding->changes.front().code.find("num_workers"), std::string::npos);
}

TEST(HostData, PythonIsGuessedAtAndSaidSo) {
  const Advice advice = prepared_data(0, 4'000'000, "").advise();
  const Finding* finding = finding_of(advice, "host-data");
  ASSERT_NE(finding, nullptr);
  EXPECT_LE(finding->confidence, Confidence::kMedium);
  EXPECT_NE(finding->detail.form.find("Most likely"), std::string::npos);
}

AnswersForTests compiled_in(std::int64_t steps) {
  AnswersForTests answers;
  answers.steps().rest().stall("compile", 6'000'000, {{"steps", steps}}).stall("launch", 1);
  return answers
      .add("host-work", "tasks",
           {{"rank", 0},
            {"task", "compile"},
            {"episodes", steps},
            {"steps", steps},
            {"host_ns", 24'000'000},
            {"longest_ns", 24'000'000}})
      .add("host-work", "signs", {{"rank", 0}, {"most_versions", 13}});
}

TEST(Compiling, AgainAndAgainIsAFault) {
  const Advice advice = compiled_in(4).advise();
  const Finding* finding = finding_of(advice, "compiling");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_NE(finding->detail.form.find("compiled {} times"), std::string::npos);
}

TEST(Compiling, OnceIsTheStartOfTraining) {
  const Advice advice = compiled_in(1).advise();
  const Finding* finding = finding_of(advice, "compiling");
  ASSERT_NE(finding, nullptr);
  EXPECT_LE(finding->level, Level::kNotice);
  EXPECT_EQ(finding->gain->low, 0);
}

// Slow launching that such a setting makes stands below it, and is no warning.
TEST(SettingsThatSlowLaunching, ComeBeforeLaunchBound) {
  for (const auto& [rule, all, some] :
       {std::tuple{"anomaly-mode", "backward_nodes", "checked_nodes"},
        std::tuple{"blocking-launches", "long_launches", "held_launches"}}) {
    AnswersForTests answers;
    answers.steps().rest().stall("launch", 5'000'000).stall("debug", 1'000'000);
    answers.add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}});
    answers.add("host-work", "signs", {{"rank", 0}, {all, 1000}, {some, 1000}});
    const Advice advice = answers.advise();
    ASSERT_FALSE(advice.findings.empty());
    EXPECT_EQ(advice.findings.front().rule, rule);
    const Finding* launch = finding_of(advice, "launch-bound");
    if (launch != nullptr) {
      EXPECT_LE(launch->level, Level::kNotice) << rule;
    }
  }
}

TEST(BlockingLaunches, AFewLongKernelsSayNothing) {
  AnswersForTests answers;
  answers.steps().rest().stall("launch", 5'000'000);
  answers.add("host-work", "signs", {{"rank", 0}, {"long_launches", 19}, {"held_launches", 19}});
  EXPECT_EQ(finding_of(answers.advise(), "blocking-launches"), nullptr);
}

// Copies that belong to the optimizer or to a log are not reported twice.
TEST(CpuOptimizer, ItsCopiesAreNoExposedCopies) {
  AnswersForTests answers;
  answers.steps().rest();
  answers.stall("update", 1'000'000, {{"copy_ns", 8'000'000}}).stall("launch", 1);
  answers.add("steps", "parts", {{"rank", 0}, {"part", "memcpy"}, {"mean_ns", 2'000'000.0}});
  const Advice advice = answers.advise();
  EXPECT_NE(finding_of(advice, "cpu-optimizer"), nullptr);
  EXPECT_EQ(finding_of(advice, "exposed-copies"), nullptr);
}

}  // namespace
}  // namespace stepscope::advice
