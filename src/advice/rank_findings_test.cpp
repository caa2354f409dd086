// What findings say of each other: the order, what remains after the first, nothing counted twice.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

bool verdict_says(const Advice& advice, std::string_view text) {
  return std::ranges::any_of(advice.verdict, [&](const Sentence& one) {
    return one.form.find(text) != std::string::npos;
  });
}

// Communication that nothing hides, with no lower bound, before products with a wide one.
Answers communicating(std::int64_t slow_ns) {
  return Answers()
      .steps()
      .stall("launch", 1)
      .add("overlap", "devices",
           {{"rank", 0},
            {"exposed_ns", 24'000'000},
            {"communication_ns", 24'000'000},
            {"compute_ns", 12'000'000}})
      .add("operators", "tensor_cores",
           {{"rank", 0},
            {"operators", "matrix products"},
            {"device_ns", 4 * slow_ns},
            {"not_used_ns", 4 * slow_ns},
            {"plain_ns", 4 * slow_ns}})
      .add("operators", "tensor_cores",
           {{"rank", 0}, {"operators", "others"}, {"device_ns", 34'000'000}});
}

TEST(Remaining, IsToldWhereTheFirstMayBringNothing) {
  const Advice advice = communicating(2'000'000).advise();
  ASSERT_EQ(advice.findings.size(), 2U);
  ASSERT_EQ(advice.findings[0].rule, "exposed-communication");
  EXPECT_EQ(advice.findings[0].gain->low, 0);
  ASSERT_TRUE(advice.findings[1].remaining);
  EXPECT_EQ(advice.findings[1].remaining->high, advice.findings[1].gain->high);
  ASSERT_TRUE(verdict_says(advice, "What remains then"));
  for (const Sentence& sentence : advice.verdict) {
    if (!sentence.form.starts_with("What remains")) continue;
    EXPECT_EQ(sentence.figures[0].value, static_cast<double>(advice.findings[1].gain->high));
  }
}

// Waits for values of 1 ms (a warning), and communication that may bring less or more than that.
TEST(Order, IsByLevelAndThenByWhatIsSure) {
  const auto first = [](std::int64_t exposed_ns, Level level) {
    const Advice advice = Answers()
                              .steps()
                              .stall("sync", 1'050'000)
                              .add("overlap", "devices",
                                   {{"rank", 0},
                                    {"exposed_ns", 4 * exposed_ns},
                                    {"communication_ns", 4 * exposed_ns},
                                    {"compute_ns", 4'000'000}})
                              .advise();
    EXPECT_EQ(finding_of(advice, "host-sync")->level, Level::kWarning);
    EXPECT_EQ(finding_of(advice, "exposed-communication")->level, level);
    EXPECT_EQ(finding_of(advice, "exposed-communication")->gain->low, 0);
    return advice.findings.front().rule;
  };
  EXPECT_EQ(first(1'100'000, Level::kNotice), "host-sync");
  EXPECT_EQ(first(2'400'000, Level::kNotice), "host-sync");
  EXPECT_EQ(first(4'000'000, Level::kWarning), "host-sync");  // it may bring nothing
}

// What launching may save beyond the others is its own; the rest may be their doing.
TEST(Order, LaunchingCountsForWhatOthersDoNotClaim) {
  const auto first = [](std::int64_t pause_ns, std::int64_t launch_ns) {
    return Answers()
        .steps()
        .stall("pause", pause_ns, {{"host_ns", 4 * pause_ns}, {"longest_ns", pause_ns}})
        .stall("launch", launch_ns)
        .add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}})
        .advise()
        .findings.front()
        .rule;
  };
  EXPECT_EQ(first(2'500'000, 5'000'000), "host-pause");
  EXPECT_EQ(first(600'000, 6'500'000), "launch-bound");
}

TEST(Precision, GainsNothingFromCommunication) {
  const Advice advice = communicating(2'000'000).advise();
  const Finding* precision = finding_of(advice, "precision");
  ASSERT_NE(precision, nullptr);
  // 3 ms of a step compute: 2 ms slow products, and half of the other.
  EXPECT_LE(precision->gain->high, 2'500'000);
  EXPECT_LE(precision->gain->high + finding_of(advice, "exposed-communication")->gain->high,
            advice.step_ns);
}

TEST(Healthy, IsNotSaidOfOneStep) {
  const auto advice_for = [](std::int64_t steps, double busy) {
    return Answers()
        .add("steps", "times",
             {{"rank", 0}, {"steps", steps}, {"mean_ns", 10e6}, {"median_ns", 10'000'000}})
        .stall("launch", 1)
        .rest()
        .add("overview", "devices", {{"rank", 0}, {"busy_share", busy}})
        .advise();
  };
  EXPECT_TRUE(advice_for(4, 0.9).healthy);
  EXPECT_FALSE(verdict_says(advice_for(4, 0.9), "cannot be said"));
  EXPECT_FALSE(advice_for(1, 0.9).healthy);
  EXPECT_TRUE(verdict_says(advice_for(1, 0.9), "Whether the run is healthy cannot be said"));
  EXPECT_FALSE(advice_for(4, 0.01).healthy);  // hardly at work
  EXPECT_TRUE(verdict_says(advice_for(4, 0.01), "Whether the run is healthy cannot be said"));
  EXPECT_FALSE(verdict_says(advice_for(4, 0.01), "No grave fault"));
  EXPECT_FALSE(advice_for(4, 0.62).healthy);  // what it waits for, no rule says
  EXPECT_TRUE(verdict_says(advice_for(4, 0.62), "Whether the run is healthy cannot be said"));
}

TEST(Healthy, IsNotSaidWhereAProcessFailed) {
  Answers answers;
  answers.steps().stall("launch", 1).rest();
  answers.add("overview", "devices", {{"rank", 0}, {"busy_share", 0.9}});
  EXPECT_TRUE(answers.advise().healthy);
  EXPECT_FALSE(answers.advise({}, Framework::kPyTorch, {.failed = true}).healthy);
}

// An interval of more than half of the step says what would make it narrower, and is not sure.
TEST(Gain, ThatIsWideSaysWhatToRecord) {
  Answers answers;
  answers.steps().stall("sync", 4'000'000, {{"inside_ns", 0}}).stall("launch", 3'900'000);
  const Advice wide = answers.advise();
  EXPECT_NE(finding_of(wide, "host-sync")->about_gain.form.find("--step-time"), std::string::npos);
  EXPECT_EQ(finding_of(wide, "host-sync")->confidence, Confidence::kMedium);
  const Advice narrow = Answers().steps().stall("sync", 4'000'000).advise();
  EXPECT_EQ(finding_of(narrow, "host-sync")->about_gain.form.find("The range is wide"),
            std::string::npos);
  EXPECT_EQ(finding_of(narrow, "host-sync")->confidence, Confidence::kHigh);
}

Answers masked(std::string_view op, std::int64_t launching_ns) {
  return Answers()
      .steps()
      .stall("sync", 700'000)
      .stall("launch", 3'400'000)
      .add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}})
      .add("stalls", "places",
           {{"rank", 0}, {"stall", "sync"}, {"op", op}, {"waits", 4}, {"idle_ns", 2'800'000}})
      .add("stalls", "places",
           {{"rank", 0},
            {"stall", "launch"},
            {"op", "autograd::engine::evaluate_function: IndexBackward0"},
            {"waits", 4},
            {"idle_ns", 4 * launching_ns}});
}

TEST(HostSync, OfSelectionsCountsTheWorkTheyLaunch) {
  const Advice advice = masked("aten::index", 1'500'000).advise();
  const Finding* sync = finding_of(advice, "host-sync");
  ASSERT_NE(sync, nullptr);
  EXPECT_EQ(sync->level, Level::kWarning);
  EXPECT_NEAR(sync->measured.value, 0.22, 1e-6);
  EXPECT_EQ(advice.findings.front().rule, "host-sync");
  // The rest of launching, and nothing twice.
  const Finding* launch = finding_of(advice, "launch-bound");
  ASSERT_NE(launch, nullptr);
  EXPECT_NEAR(launch->measured.value, 0.19, 1e-6);
}

TEST(HostSync, OfOtherValuesLeavesLaunchingAlone) {
  const Advice advice = masked("aten::item", 1'500'000).advise();
  EXPECT_NEAR(finding_of(advice, "host-sync")->measured.value, 0.07, 1e-6);
  EXPECT_EQ(finding_of(advice, "host-sync")->level, Level::kNotice);
  EXPECT_NEAR(finding_of(advice, "launch-bound")->measured.value, 0.34, 1e-6);
}

// 1 ms of pauses, and a thousand kernels of 1 µs, or of 8: of each two may be its start and end.
TEST(GpuIdle, OfTinyKernelsCountsWhatStartingThemTakes) {
  const auto most = [](std::int64_t kernel_ns, std::string_view reason) {
    const Advice advice = Answers()
                              .steps()
                              .add("idle-time", "devices", {{"rank", 0}, {reason, 4'000'000}})
                              .add("kernels", "kernels",
                                   {{"rank", 0},
                                    {"name", "add"},
                                    {"class", "compute"},
                                    {"count", 4'000},
                                    {"sum_ns", 4'000 * kernel_ns}})
                              .advise();
    const Finding* finding = finding_of(advice, "gpu-idle");
    EXPECT_EQ(finding->gain->low, 0);
    return finding->gain->high;
  };
  EXPECT_EQ(most(1'000, "kernel_ns"), 2'050'000);  // and the noise of steps
  EXPECT_EQ(most(8'000, "kernel_ns"), 3'050'000);
  EXPECT_EQ(most(1'000, "dependency_ns"), 1'000'000);  // what was measured
}

TEST(GpuIdle, LeavesWhatGlooDoesToItsRule) {
  const auto advice_for = [](std::string_view collective) {
    return Answers()
        .steps()
        .stall("communication", 5'000'000)
        .rest()
        .add("overlap", "host",
             {{"rank", 0}, {"collective", collective}, {"count", 4}, {"exposed_ns", 20'000'000}})
        .advise();
  };
  EXPECT_EQ(finding_of(advice_for("gloo:all_reduce"), "gpu-idle"), nullptr);
  EXPECT_NE(finding_of(advice_for("gloo:all_reduce"), "gloo-on-gpu"), nullptr);
  EXPECT_NE(finding_of(advice_for("mpi:all_reduce"), "gpu-idle"), nullptr);
}

TEST(InputBound, RanksOfAMachineShareItsProcessors) {
  const auto code = [](std::int64_t world_size) {
    const Advice advice =
        Answers()
            .steps()
            .stall("input", 4'000'000)
            .add("dataloader", "loaders", {{"rank", 0}, {"loader", "x"}, {"sum_ns", 1}})
            .add("overview", "run", {{"world_size", world_size}})
            .advise();
    return finding_of(advice, "input-bound")->changes.front().code;
  };
  EXPECT_NE(code(1).find("num_workers=max(1, len(os.sched_getaffinity(0)) - 1),"),
            std::string::npos);
  EXPECT_NE(code(4).find("// int(os.environ.get(\"LOCAL_WORLD_SIZE\", 1)) - 1)"),
            std::string::npos);
}

TEST(SlowTransfers, TheCopyStreamKeepsABatchUntilItIsUsed) {
  const Advice advice = Answers()
                            .steps()
                            .stall("upload", 0, {{"copy_ns", 16'000'000}})
                            .add("transfers", "classes",
                                 {{"rank", 0},
                                  {"kind", "HtoD"},
                                  {"host_memory", "pageable"},
                                  {"count", 4},
                                  {"copy_ns", 16'000'000}})
                            .advise();
  const Finding* finding = finding_of(advice, "slow-transfers");
  ASSERT_NE(finding, nullptr);
  const std::string& code = finding->changes.back().code;
  EXPECT_NE(code.find("record_stream(torch.cuda.current_stream())"), std::string::npos);
  EXPECT_LT(code.find("wait_stream"), code.find("train_step(x)"));
}

TEST(UnnamedTime, SaysWhatItLeavesToCpuContention) {
  const auto detail = [](double waited) {
    Answers answers;
    answers.steps().stall("launch", 1).no_device_work();
    answers.add("steps", "steps",
                {{"rank", 0}, {"step", 7}, {"step_ns", 10'000'000}, {"other_ns", 9'000'000}});
    answers.add("system", "processes",
                {{"rank", 0}, {"node", "a"}, {"processes", "training"}, {"waited_share", waited}});
    return finding_of(answers.advise(), "unnamed-time")->detail.form;
  };
  EXPECT_NE(detail(0.2).find("ready and had no processor"), std::string::npos);
  EXPECT_EQ(detail(0.0).find("ready and had no processor"), std::string::npos);
}

TEST(UnnamedTime, LeavesCollectionsToTheirRule) {
  // 9 ms without a name in each step, of which the garbage collector takes so much.
  const auto with = [](std::int64_t collected_ns, double waited) {
    Answers answers;
    answers.steps().no_device_work();
    answers.stall("collector", 0, {{"host_ns", 4 * collected_ns}});
    for (int step = 0; step < 4; ++step) {
      answers.add("steps", "steps",
                  {{"rank", 0},
                   {"window", 1},
                   {"step", step},
                   {"step_ns", 10'000'000},
                   {"other_ns", 9'000'000}});
      answers.add("stalls", "steps",
                  {{"rank", 0},
                   {"window", 1},
                   {"step", step},
                   {"stall", "collector"},
                   {"count", 1},
                   {"host_ns", collected_ns}});
    }
    answers.add("system", "processes",
                {{"rank", 0}, {"node", "a"}, {"processes", "training"}, {"waited_share", waited}});
    return answers.advise();
  };
  const Advice all = with(8'900'000, 0);
  EXPECT_NE(finding_of(all, "garbage-collector"), nullptr);
  EXPECT_EQ(finding_of(all, "unnamed-time"), nullptr);
  const Advice some = with(4'000'000, 0);
  const Finding* finding = finding_of(some, "unnamed-time");
  ASSERT_NE(finding, nullptr);
  EXPECT_DOUBLE_EQ(finding->measured.value, 0.5);
  EXPECT_EQ(finding->evidence.front().text.figures.front().value, 5e6);
  EXPECT_NE(finding->detail.form.find("garbage collector ran"), std::string::npos);
  // Waits for a processor inside of collections are not taken off twice: 5 ms less a quarter.
  const Advice crowded = with(4'000'000, 0.25);
  EXPECT_DOUBLE_EQ(finding_of(crowded, "unnamed-time")->measured.value, 0.375);
  // What remains after the first includes what they share.
  EXPECT_TRUE(verdict_says(some, "What remains then"));
  EXPECT_FALSE(verdict_says(some, "may be gone with the first"));
  EXPECT_TRUE(verdict_says(with(8'900'000, 0.3), "may be gone with the first"));
}

TEST(HostSync, ACallOfSynchronizeIsNamed) {
  const auto with = [](std::int64_t device_ns, std::int64_t item_ns) {
    Answers answers;
    answers.steps().stall("sync", 4'000'000);
    const auto place = [&](base::Cell call, base::Cell op, std::int64_t idle_ns) {
      if (idle_ns == 0) return;
      answers.add("stalls", "places",
                  {{"rank", 0},
                   {"stall", "sync"},
                   {"call", call},
                   {"op", op},
                   {"waits", 4},
                   {"idle_ns", idle_ns}});
    };
    place("cudaDeviceSynchronize", base::Null{}, device_ns);
    place("cudaStreamSynchronize", "aten::item", item_ns);
    place(base::Null{}, base::Null{}, 1'000'000);
    return answers.advise();
  };
  constexpr std::string_view kCall = "torch.cuda.synchronize()";
  const Advice alone = with(15'000'000, 0);
  const Finding* finding = finding_of(alone, "host-sync");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(finding->detail.form.starts_with(kCall)) << finding->detail.form;
  EXPECT_EQ(finding->detail.form.find(".item()"), std::string::npos);
  ASSERT_EQ(finding->changes.size(), 1U);
  EXPECT_NE(finding->changes.front().code.find(kCall), std::string::npos);
  EXPECT_EQ(finding->verify.find("names every line"), std::string::npos);
  const Advice both = with(8'000'000, 7'000'000);
  finding = finding_of(both, "host-sync");
  EXPECT_NE(finding->detail.form.find(".item()"), std::string::npos);
  EXPECT_NE(finding->detail.form.find(kCall), std::string::npos);
  EXPECT_EQ(finding->changes.size(), 3U);
  const Advice values = with(1, 15'000'000);
  EXPECT_EQ(finding_of(values, "host-sync")->detail.form.find(kCall), std::string::npos);
}

TEST(CheckpointStall, InTheBackgroundNeedsABackendForTheCpuOnSeveralRanks) {
  const auto code = [](std::int64_t world_size) {
    return finding_of(Answers()
                          .steps()
                          .stall("save", 4'000'000)
                          .add("overview", "run", {{"world_size", world_size}})
                          .advise(),
                      "checkpoint-stall")
        ->changes.back()
        .code;
  };
  EXPECT_NE(code(2).find("init_process_group(\"cpu:gloo,cuda:nccl\")"), std::string::npos);
  EXPECT_EQ(code(1).find("init_process_group"), std::string::npos);
}

TEST(HostPause, CountsPausesAndNotSteps) {
  const auto advice_for = [](std::int64_t pauses, std::int64_t steps) {
    Answers answers;
    answers.add("steps", "times",
                {{"rank", 0}, {"steps", steps}, {"mean_ns", 10e6}, {"median_ns", 10'000'000}});
    answers.stall("pause", 4'000'000, {{"count", pauses}, {"steps", 0}, {"longest_ns", 4'000'000}});
    const Advice advice = answers.advise();
    const Sentence& detail = finding_of(advice, "host-pause")->detail;
    return detail.figures[0].text + " in " + detail.figures[1].text;
  };
  EXPECT_EQ(advice_for(1, 1), "once in one step");  // no step has it: nothing marked one
  EXPECT_EQ(advice_for(5, 5), "5 times in 5 steps");
}

TEST(GarbageCollector, AProgramThatAsksForItIsToldToStop) {
  const auto first = [](bool called) {
    Answers answers;
    answers.steps().stall("collector", 4'000'000);
    Answers::Row place = {
        {"rank", 0}, {"stall", "collector"}, {"waits", 4}, {"idle_ns", 16'000'000}};
    if (called) place.emplace_back("frames", "train.py(3): collect");
    answers.add("stalls", "places", place);
    return finding_of(answers.advise(), "garbage-collector")->changes.front().why;
  };
  EXPECT_NE(first(true).find("delete gc.collect()"), std::string::npos);
  EXPECT_EQ(first(false).find("delete gc.collect()"), std::string::npos);
}

TEST(GarbageCollector, InEveryStepIsLookedForInTheProgram) {
  const auto with = [](std::int64_t times) {
    Answers answers;
    answers.steps().no_device_work();
    answers.stall("collector", 0, {{"count", times}, {"steps", times}, {"host_ns", 16'000'000}});
    const Advice advice = answers.advise();
    const Finding* finding = finding_of(advice, "garbage-collector");
    return finding->detail.form + finding->changes.front().why;
  };
  EXPECT_TRUE(with(4).starts_with("It ran {} times in {} steps"));
  EXPECT_NE(with(4).find("look for gc.collect()"), std::string::npos);
  EXPECT_TRUE(with(1).starts_with("It ran once in {} steps"));
  EXPECT_EQ(with(1).find("look for gc.collect()"), std::string::npos);
}

TEST(Verdict, OfFindingsWithoutAGainNamesTheStep) {
  constexpr std::int64_t kMiB = 1 << 20;
  const Advice advice = Answers()
                            .steps()
                            .add("overview", "devices",
                                 {{"rank", 0},
                                  {"device", 0},
                                  {"busy_share", 0.9},
                                  {"peak_reserved_bytes", 95 * kMiB},
                                  {"memory_bytes", 100 * kMiB}})
                            .advise();
  ASSERT_FALSE(advice.findings.empty());
  EXPECT_TRUE(advice.verdict.front().form.starts_with("A recorded step takes {}"));
  EXPECT_TRUE(verdict_says(advice, "{} finding; no gain in time is known"));
}

}  // namespace
}  // namespace stepscope::advice
