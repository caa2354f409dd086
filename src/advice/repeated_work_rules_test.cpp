// The rules about what is computed too often, and about what only stepscope's recorder notes: each
// has a case that triggers it and one that comes close and must not.
#include <algorithm>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Steps of 10 ms, four of them; `ns` is per step.
Answers healthy_repeated_work_rules() { return Answers().steps().stall("launch", 1); }

// Chains whose kernels, less the longest of each, take `ns` of each step.
Answers::Row chain(std::int64_t ns) {
  return {{"rank", 0},          {"within", "forward"},    {"kernels", 3},
          {"count", 40},        {"device_ns", 6 * ns},    {"saves_least_ns", 4 * ns / 3},
          {"saves_ns", 4 * ns}, {"saves_most_ns", 5 * ns}};
}

TEST(UnfusedChains, CountsPassesOverMemory) {
  const auto with = [](std::int64_t ns) {
    return healthy_repeated_work_rules().add("patterns", "chains", chain(ns)).advise();
  };
  const Advice advice = with(2'000'000);
  const Finding* finding = finding_of(advice, "unfused-chains");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 666'666);
  EXPECT_EQ(finding->gain->high, 2'550'000);  // and half a percent of the step
  EXPECT_DOUBLE_EQ(finding->measured.value, 0.2);
  EXPECT_EQ(finding->detail.form.find("sums"), std::string::npos);
  EXPECT_EQ(finding_of(with(790'000), "unfused-chains"), nullptr);
  // The gaps of a host that cannot keep up are launching's.
  EXPECT_EQ(finding_of(Answers()
                           .steps()
                           .stall("launch", 1'000'000)
                           .add("patterns", "chains", chain(2'000'000))
                           .advise(),
                       "unfused-chains"),
            nullptr);
}

TEST(UnfusedChains, OfTheOptimizerGetAnotherChange) {
  Answers::Row row = chain(2'000'000);
  row[1].second = "Optimizer.step#AdamW.step";
  const Advice advice = healthy_repeated_work_rules().add("patterns", "chains", row).advise();
  EXPECT_NE(finding_of(advice, "unfused-chains")->changes.front().code.find("fused=True"),
            std::string::npos);
}

TEST(UnfusedChains, SaysThatSumsAreAmongThem) {
  Answers::Row row = chain(2'000'000);
  row.emplace_back("reductions", 1);
  const Advice advice = healthy_repeated_work_rules().add("patterns", "chains", row).advise();
  const Finding* finding = finding_of(advice, "unfused-chains");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->detail.form.find("({} of them: sums, means, maxima)"), std::string::npos);
  EXPECT_DOUBLE_EQ(finding->detail.figures.at(1).value, 10);  // 40 chains in 4 steps
  EXPECT_NE(finding->measured.name.find("sums"), std::string::npos);
}

TEST(UnfusedChains, SayWhatShapesWouldTell) {
  const auto says_so = [](base::Cell inputs) {
    const Advice advice = healthy_repeated_work_rules()
                              .add("patterns", "chains", chain(2'000'000))
                              .add("roofline", "operators", {{"rank", 0}, {"inputs", inputs}})
                              .advise();
    const std::string& about = finding_of(advice, "unfused-chains")->about_gain.form;
    return about.find("Shapes were not recorded") != std::string::npos;
  };
  EXPECT_TRUE(says_so(base::Null{}));
  EXPECT_FALSE(says_so("64×4096"));
}

// Only the function that does what the operators of the chain do.
TEST(UnfusedChains, NamesTheFunctionThatFits) {
  const auto codes = [](std::string_view operators) {
    Answers::Row row = chain(2'000'000);
    row.emplace_back("operators", operators);
    const Advice advice = healthy_repeated_work_rules().add("patterns", "chains", row).advise();
    std::string out;
    for (const Change& change : finding_of(advice, "unfused-chains")->changes) out += change.code;
    return out;
  };
  const std::string silu =
      codes("aten::neg | aten::exp | aten::add | aten::reciprocal | aten::mul");
  EXPECT_NE(silu.find("silu(x)"), std::string::npos);
  EXPECT_EQ(silu.find("gelu"), std::string::npos);
  EXPECT_EQ(codes("aten::add | aten::mul").find("functional"), std::string::npos);
  const std::string layer = codes("aten::mean | aten::sub | aten::mul | aten::mean | aten::rsqrt");
  EXPECT_NE(layer.find("LayerNorm"), std::string::npos);
  EXPECT_EQ(layer.find("RMSNorm"), std::string::npos);
  EXPECT_NE(codes("aten::pow | aten::mean | aten::add | aten::rsqrt | aten::mul").find("RMSNorm"),
            std::string::npos);
  EXPECT_NE(codes("aten::amax | aten::sub | aten::exp | aten::sum | aten::div").find("softmax"),
            std::string::npos);
}

TEST(Recompute, IsFineWhereMemoryIsFull) {
  const auto with = [](base::Cell used, std::int64_t again_ns) {
    return healthy_repeated_work_rules()
        .add("mfu", "steps",
             {{"rank", 0}, {"step", 1}, {"compute_ns", 9'000'000}, {"recomputed_ns", 4 * again_ns}})
        .add("operators", "operators", {{"rank", 0}, {"name", "aten::mm"}})
        .add("overview", "devices", {{"rank", 0}, {"device", 0}, {"peak_reserved_share", used}})
        .advise();
  };
  const Advice free = with(0.4, 2'000'000);
  const Finding* finding = finding_of(free, "recompute");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_DOUBLE_EQ(finding->measured.value, 0.2);
  EXPECT_EQ(finding->gain->low, 1'800'000);
  EXPECT_EQ(finding->gain->high, 2'050'001);  // a wait of 1 ns for launches
  const Advice unknown = with(base::Null{}, 2'000'000);
  ASSERT_NE(finding_of(unknown, "recompute"), nullptr);
  EXPECT_EQ(finding_of(unknown, "recompute")->level, Level::kNotice);
  EXPECT_EQ(finding_of(with(0.9, 2'000'000), "recompute"), nullptr);
  EXPECT_EQ(finding_of(with(0.4, 490'000), "recompute"), nullptr);
}

TEST(CudnnAutotuning, SearchesOfTheFirstStepAreWarmUp) {
  const auto with = [](std::int64_t steps, std::int64_t first, std::int64_t ns) {
    Answers answers = healthy_repeated_work_rules();
    for (int step = 5; step < 9; ++step)
      answers.add("steps", "steps", {{"rank", 0}, {"step", step}});
    answers.add("autotuning", "ranks",
                {{"rank", 0},
                 {"calls", 40},
                 {"searches", 12},
                 {"device_ns", 2 * ns},
                 {"once_ns", ns},
                 {"steps", steps}});
    answers.stall("search", ns / 2);
    answers.add("autotuning", "searches",
                {{"rank", 0},
                 {"step", first},
                 {"operator", "aten::conv2d"},
                 {"kernels", 60},
                 {"span_ns", ns}});
    return answers.advise();
  };
  const Advice advice = with(4, 5, 2'000'000);
  const Finding* finding = finding_of(advice, "cudnn-autotuning");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 1'200'000);
  EXPECT_GE(finding->gain->high, 2'000'000);
  EXPECT_NE(finding_of(with(1, 6, 2'000'000), "cudnn-autotuning"), nullptr);
  EXPECT_EQ(finding_of(with(1, 5, 2'000'000), "cudnn-autotuning"), nullptr);
  EXPECT_EQ(finding_of(with(4, 5, 600'000), "cudnn-autotuning"), nullptr);
}

TEST(GarbageCollector, CountsTheWaitsItFills) {
  const auto with = [](std::int64_t ns) {
    return healthy_repeated_work_rules().stall("collector", ns, {{"longest_ns", 4 * ns}}).advise();
  };
  const Advice advice = with(2'000'000);
  const Finding* finding = finding_of(advice, "garbage-collector");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 1'800'000);
  EXPECT_EQ(finding_of(with(290'000), "garbage-collector"), nullptr);
}

TEST(GarbageCollector, HowOftenItRunsIsAGuessInFewSteps) {
  const auto in_steps = [](std::int64_t steps) {
    return *finding_of(
        healthy_repeated_work_rules().stall("collector", 2'000'000, {{"steps", steps}}).advise(),
        "garbage-collector");
  };
  EXPECT_EQ(in_steps(4).confidence, Confidence::kHigh);  // in each of them
  EXPECT_EQ(in_steps(2).confidence, Confidence::kMedium);
}

TEST(GarbageCollector, OnTheHostAloneNothingIsSureToBeGained) {
  const auto with = [](std::int64_t host_ns) {
    return Answers()
        .steps()
        .stall("collector", 0, {{"host_ns", 4 * host_ns}, {"devices", 0}})
        .no_device_work()
        .advise();
  };
  const Advice advice = with(5'000'000);
  const Finding* finding = finding_of(advice, "garbage-collector");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding_of(with(290'000), "garbage-collector"), nullptr);
}

TEST(GarbageCollector, ATraceAloneCannotTell) {
  const Advice advice = healthy_repeated_work_rules().advise();
  const auto missing = std::ranges::find(advice.not_judged, "garbage-collector", &NotJudged::rule);
  ASSERT_NE(missing, advice.not_judged.end());
  EXPECT_EQ(missing->wanted, Wanted::kStepscope);
}

TEST(CpuContention, CostsNoMoreThanTheGpuIsIdle) {
  const auto with = [](base::Cell waited, double busy) {
    return healthy_repeated_work_rules()
        .add("system", "machines", {{"node", "a"}, {"processors", 64}, {"cpu_limit_cores", 8.0}})
        .add("system", "processes",
             {{"rank", 0},
              {"node", "a"},
              {"processes", "training"},
              {"mean_cores", 7.5},
              {"waited_share", waited}})
        .add("overview", "devices", {{"rank", 0}, {"device", 0}, {"busy_share", busy}})
        .advise();
  };
  const Advice advice = with(0.4, 0.5);
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->gain->high, 5'050'000);  // twice the waits would be 8 ms, idle are 5
  EXPECT_EQ(finding_of(with(0.2, 0.5), "cpu-contention")->gain->high, 4'050'000);
  EXPECT_EQ(finding_of(with(0.4, 0.97), "cpu-contention"), nullptr);  // the GPU hides it
  EXPECT_EQ(finding_of(with(0.04, 0.5), "cpu-contention"), nullptr);
  const Advice unknown = with(base::Null{}, 0.5);
  EXPECT_NE(std::ranges::find(unknown.not_judged, "cpu-contention", &NotJudged::rule),
            unknown.not_judged.end());
}

TEST(CpuContention, LeavesTheProcessorTimeThatWasUsed) {
  const auto most = [](double waited, double mean_cores, double max_cores) {
    Answers answers = Answers().steps().no_device_work();
    answers.add("system", "machines", {{"node", "a"}, {"processors", 2}});
    answers.add("system", "processes",
                {{"rank", 0},
                 {"node", "a"},
                 {"processes", "training"},
                 {"mean_cores", mean_cores},
                 {"max_cores", max_cores},
                 {"waited_share", waited}});
    return finding_of(answers.advise(), "cpu-contention")->gain->high;
  };
  EXPECT_EQ(most(0.7, 0.3, 0.6), 7'000'000);  // twice the waits would be more than the step
  EXPECT_EQ(most(0.3, 0.3, 0.6), 6'050'000);
  EXPECT_EQ(most(0.6, 0.8, 1.6), 8'050'000);  // two threads: half of 0.4
}

TEST(Evidence, IsNeverMoreThanAFindingShows) {
  Answers answers = healthy_repeated_work_rules();
  for (int step = 0; step < 6; ++step) {
    answers.add("mfu", "steps",
                {{"rank", 0}, {"step", step}, {"compute_ns", 9}, {"recomputed_ns", 2'000'000}});
    answers.add("kernels", "kernels",
                {{"rank", 0},
                 {"name", "k"},
                 {"class", "compute"},
                 {"sum_ns", 8'000'000},
                 {"blocks_per_sm", 0.25}});
  }
  answers.add("operators", "operators", {{"rank", 0}, {"name", "aten::mm"}});
  const Advice advice = answers.advise();
  EXPECT_FALSE(advice.findings.empty());
  for (const Finding& finding : advice.findings) {
    EXPECT_LE(finding.evidence.size(), kMostEvidence) << finding.rule;
  }
}

}  // namespace
}  // namespace stepscope::advice
