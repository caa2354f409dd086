// Rules about time: each has a case that triggers it and one that comes close and must not.
#include <algorithm>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

Answers loader(std::int64_t idle_ns, const char* name = "_SingleProcessDataLoaderIter") {
  Answers answers;
  answers.steps().stall("input", idle_ns);
  answers.add("dataloader", "loaders",
              {{"rank", 0}, {"loader", name}, {"fetches", 4}, {"sum_ns", 4 * idle_ns}});
  return answers;
}

TEST(InputBound, LevelFollowsTheShareOfTheStep) {
  EXPECT_EQ(finding_of(loader(499'999).advise(), "input-bound"), nullptr);
  const struct {
    std::int64_t idle;
    Level level;
  } cases[] = {
      {500'000, Level::kNotice}, {1'000'000, Level::kWarning}, {2'000'000, Level::kCritical}};
  for (const auto& c : cases) {
    const Advice advice = loader(c.idle).advise();
    const Finding* finding = finding_of(advice, "input-bound");
    ASSERT_NE(finding, nullptr) << c.idle;
    EXPECT_EQ(finding->level, c.level);
    EXPECT_EQ(finding->cause, "input");
    // Workers may slow the rest of the step by a fifth.
    EXPECT_EQ(finding->gain->low,
              std::max<std::int64_t>(0, c.idle * 9 / 10 - (10'000'000 - c.idle) / 5));
    EXPECT_GE(finding->gain->high, c.idle);
  }
}

TEST(InputBound, SaysWhetherThereAreWorkers) {
  const Advice none = loader(2'000'000).advise();
  EXPECT_NE(finding_of(none, "input-bound")->detail.form.find("no workers"), std::string::npos);
  const Advice some = loader(2'000'000, "_MultiProcessingDataLoaderIter").advise();
  EXPECT_NE(finding_of(some, "input-bound")->detail.form.find("too few"), std::string::npos);
}

// A run without a trace: steps of 10 ms, of which the loop waited this share.
Answers recorded_time_rules(double wait_share, const char* cause = "transform",
                            std::int64_t passes = 1) {
  Answers answers;
  answers.add("throughput", "phases",
              {{"rank", 0},
               {"phase", "training"},
               {"measured", 50},
               {"iterations_per_second", 100.0},
               {"median_per_second", 100.0},
               {"wait_share", wait_share}});
  answers.add("loader", "loaders",
              {{"rank", 0},
               {"loader", "DataLoader"},
               {"phase", "training"},
               {"workers", 2},
               {"batches", 50},
               {"wait_ns", 200'000'000},
               {"wait_share", wait_share},
               {"passes", passes},
               {"cause", cause},
               {"make_ns", 20e6},
               {"transform_share", 0.9}});
  return answers;
}

TEST(InputBound, JudgesWhatTheLoopRecordedWhereThereIsNoTrace) {
  const Advice keeps_up = recorded_time_rules(0.04).advise();
  EXPECT_EQ(finding_of(keeps_up, "input-bound"), nullptr);
  EXPECT_EQ(keeps_up.judged, 1u);
  EXPECT_FALSE(keeps_up.healthy);
  const Advice advice = recorded_time_rules(0.4).advise();
  const Finding* finding = finding_of(advice, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);  // a GPU may have been at work meanwhile
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->gain->high, 4'000'000);  // the wait, and no more
  EXPECT_EQ(advice.step_ns, 10'000'000);
  EXPECT_NE(finding->detail.form.find("are transforms"), std::string::npos);
  EXPECT_NE(finding->detail.form.find("There is no trace"), std::string::npos);
}

// A loader that was watched: 4 batches, of which the loop waited 8 ms each and needed 2 ms.
Answers watched(const char* cause, std::int64_t workers, double make_ns) {
  Answers answers = loader(2'000'000, "DataLoader");
  answers.add("loader", "loaders",
              {{"rank", 0},
               {"loader", "DataLoader"},
               {"phase", "training"},
               {"workers", workers},
               {"batches", 4},
               {"wait_ns", 32'000'000},
               {"wait_share", 0.8},
               {"cause", cause},
               {"make_ns", make_ns},
               {"workers_needed", 8},
               {"fetch_share", 0.7},
               {"transform_share", 0.2},
               {"read_bytes", 48'000'000}});
  return answers;
}

// Two long waits at the start of passes are no share of each step.
TEST(InputBound, SaysInItsTitleThatTheWaitIsAtTheStart) {
  const auto title = [](const char* cause, std::int64_t passes) {
    return finding_of(recorded_time_rules(0.4, cause, passes).advise(), "input-bound")->title.form;
  };
  EXPECT_NE(title("start-up", 3).find("most of it at the start of each pass: {} of the time"),
            std::string::npos);
  EXPECT_NE(title("start-up", 1).find("most of it for the first batch"), std::string::npos);
  EXPECT_NE(title("transform", 3).find("{} of each step"), std::string::npos);
}

TEST(InputBound, NamesWhatWorkersSpendTheirTimeOn) {
  const struct {
    const char* cause;
    std::string_view detail, change;
  } cases[] = {
      {"fetch, waiting", "waiting for storage", "Make reading cheaper"},
      {"fetch, computing", "the dataset computing", "Do once"},
      {"transform", "are transforms", "Make the transform cheaper"},
      {"collate", "putting samples together", "need no work"},
      {"no free core", "no core was free", "more cores"},
      {"hand-over", "taking one over", "Hand over less"},
      {"start-up", "workers start, import", "Make the start of a worker cheaper"},
  };
  for (const auto& c : cases) {
    const Advice advice = watched(c.cause, 2, 16e6).advise();
    const Finding* finding = finding_of(advice, "input-bound");
    ASSERT_NE(finding, nullptr);
    EXPECT_NE(finding->detail.form.find(c.detail), std::string::npos) << c.cause;
    ASSERT_FALSE(finding->changes.empty());
    EXPECT_NE(finding->changes[0].why.find(c.change), std::string::npos) << c.cause;
    const auto places = std::ranges::count(finding->detail.form, '{');
    EXPECT_EQ(static_cast<std::size_t>(places), finding->detail.figures.size()) << c.cause;
  }
}

TEST(InputBound, SaysHowManyWorkersWouldKeepUp) {
  // 16 ms for a batch, one wanted every 2 ms.
  const Advice few = watched("transform", 2, 16e6).advise();
  const Finding* finding = finding_of(few, "input-bound");
  EXPECT_NE(finding->detail.form.find("would keep up"), std::string::npos);
  EXPECT_EQ(finding->detail.figures.back().value, 8);
  EXPECT_EQ(finding->changes.size(), 2U);
  const Advice enough = watched("transform", 8, 16e6).advise();
  EXPECT_EQ(finding_of(enough, "input-bound")->detail.form.find("keep up"), std::string::npos);
  EXPECT_EQ(finding_of(enough, "input-bound")->changes.size(), 1U);
  // Where no core is free, more workers would make it worse.
  EXPECT_EQ(finding_of(watched("no free core", 2, 16e6).advise(), "input-bound")->changes.size(),
            1U);
}

TEST(InputBound, SpeaksTheLanguageOfTheFramework) {
  const Advice advice = loader(2'000'000).advise({}, Framework::kHuggingFace);
  EXPECT_NE(finding_of(advice, "input-bound")->changes[0].code.find("TrainingArguments"),
            std::string::npos);
}

TEST(InputBound, WithoutLoaderRangesItDoesNotJudge) {
  const Advice advice = Answers().steps().stall("launch", 1).advise();
  const auto& list = advice.not_judged;
  EXPECT_TRUE(
      std::ranges::any_of(list, [](const NotJudged& one) { return one.rule == "input-bound"; }));
}

TEST(InputBound, OnTheHostAloneTheLoopWaits) {
  const auto waiting = [](std::int64_t wait_ns) {
    Answers answers = loader(0);
    answers.add("dataloader", "ranks", {{"rank", 0}, {"steps", 4}, {"wait_ns", 4 * wait_ns}});
    return answers.no_device_work().advise();
  };
  EXPECT_EQ(finding_of(waiting(499'999), "input-bound"), nullptr);
  const Advice advice = waiting(9'480'000);
  const Finding* finding = finding_of(advice, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_DOUBLE_EQ(finding->measured.value, 0.948);
  // A GPU that was not recorded may have been at work.
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_NE(finding->measured.name.find("CPU"), std::string::npos);
}

// Steps that were not traced are as long: recording costs nothing. tracing_test.cpp has the rest.
Answers launching_time_rules(std::int64_t idle_ns) {
  Answers answers;
  answers.steps().stall("launch", idle_ns);
  answers.add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}});
  answers.add("throughput", "phases",
              {{"rank", 0},
               {"phase", "training"},
               {"iterations", 100},
               {"traced", 4},
               {"measured", 96},
               {"iterations_per_second", 100.0}});
  return answers;
}

TEST(Verdict, WithoutDeviceWorkNothingIsHealthy) {
  const Advice with = launching_time_rules(1).rest().advise();
  EXPECT_TRUE(with.healthy);
  const Advice without = launching_time_rules(0).rest().no_device_work().advise();
  EXPECT_FALSE(without.healthy);
  EXPECT_EQ(without.verdict.front().form.find("Healthy"), std::string::npos);
  EXPECT_EQ(without.judged, 3u);  // input, unnamed time, few-steps
  for (const std::string_view rule : {"host-sync", "checkpoint-stall", "gpu-idle", "precision"}) {
    EXPECT_TRUE(std::ranges::any_of(without.not_judged, [&](const NotJudged& one) {
      return one.rule == rule && one.wanted == Wanted::kDeviceWork;
    })) << rule;
  }
}

TEST(Verdict, AHealthyRunHearsItsCeilingOrWhatToRecordForIt) {
  const auto says = [](const Advice& advice, std::string_view words) {
    return std::ranges::any_of(advice.verdict, [&](const Sentence& sentence) {
      return sentence.form.find(words) != std::string::npos;
    });
  };
  const Advice without = launching_time_rules(1).rest().advise();
  EXPECT_TRUE(says(without, "(MFU, roofline) is not known"));
  const Advice with =
      launching_time_rules(1)
          .rest()
          .add("mfu", "steps",
               {{"rank", 0}, {"mfu_share", 0.4}, {"known_share", 0.9}, {"arithmetic", "bf16"}})
          .add("roofline", "operators",
               {{"rank", 0}, {"device_ns", 100}, {"roof_ns", 60}, {"share", 0.5}})
          .advise();
  EXPECT_FALSE(says(with, "not known"));
  EXPECT_TRUE(says(with, "(MFU)"));
  EXPECT_TRUE(says(with, "(roofline)"));
}

TEST(LaunchBound, ANoticeIsNoWarning) {
  EXPECT_EQ(finding_of(launching_time_rules(490'000).advise(), "launch-bound"), nullptr);
  const Advice little = launching_time_rules(1'200'000).rest().advise();
  EXPECT_EQ(finding_of(little, "launch-bound")->level, Level::kNotice);
  EXPECT_TRUE(little.healthy);
  const Advice much = launching_time_rules(9'000'000).advise();
  EXPECT_EQ(finding_of(much, "launch-bound")->level, Level::kCritical);
  EXPECT_FALSE(much.healthy);
}

TEST(LaunchBound, GivesWayToWhatLetsTheDeviceRunDry) {
  const Advice advice = launching_time_rules(2'500'000).stall("sync", 1'500'000).advise();
  ASSERT_EQ(advice.findings.front().rule, "host-sync");
  const Finding* launch = finding_of(advice, "launch-bound");
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch->level, Level::kInfo);
  EXPECT_EQ(launch->gain->low, 0);
}

// The text says that the others are to be mended first, and so does the order.
TEST(LaunchBound, OfOneLevelComesBehindWhatMayCauseIt) {
  const Advice advice = launching_time_rules(3'400'000).stall("sync", 700'000).advise();
  ASSERT_EQ(advice.findings.size(), 2U);
  EXPECT_EQ(advice.findings[0].rule, "host-sync");
  EXPECT_EQ(advice.findings[0].level, advice.findings[1].level);
  EXPECT_GT(advice.findings[1].gain->middle(), advice.findings[0].gain->middle());
}

TEST(LaunchBound, StaysWhereTheOtherCauseIsSmall) {
  const Advice advice = launching_time_rules(8'000'000).stall("sync", 400'000).advise();
  ASSERT_EQ(advice.findings.front().rule, "launch-bound");
  EXPECT_EQ(advice.findings.front().level, Level::kCritical);
}

// A pause loses no more lead than the GPU had in it.
TEST(LaunchBound, KeepsWhatAPauseCannotHaveCaused) {
  const auto level = [](std::int64_t host_ns) {
    const Advice advice = launching_time_rules(5'000'000)
                              .stall("pause", 2'000'000, {{"host_ns", 4 * host_ns}})
                              .advise();
    EXPECT_NE(finding_of(advice, "host-pause"), nullptr);
    return finding_of(advice, "launch-bound")->level;
  };
  EXPECT_EQ(level(2'000'000), Level::kCritical);
  EXPECT_EQ(level(6'000'000), Level::kInfo);
}

TEST(HostSync, CountsItsOwnWaitsAndTheLeadThatIsLost) {
  const Advice advice = launching_time_rules(2'000'000).stall("sync", 1'500'000).advise();
  const Finding* finding = finding_of(advice, "host-sync");
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 1'350'000);
  EXPECT_EQ(finding->gain->high, 3'550'000);  // both, and half a percent of the step
  EXPECT_TRUE(finding->about_gain.form.ends_with("the next few kernels."));
  EXPECT_EQ(finding->about_gain.figures.back().value, 2'050'000);
  const Advice alone = Answers().steps().stall("sync", 1'500'000).advise();
  EXPECT_EQ(finding_of(alone, "host-sync")->about_gain.form.find("next few kernels"),
            std::string::npos);
  EXPECT_EQ(finding_of(Answers().steps().stall("sync", 290'000).advise(), "host-sync"), nullptr);
}

Answers at_barriers(std::int64_t waits, int steps) {
  Answers answers = launching_time_rules(0);
  answers.stall("sync", 3'000'000, {{"steps", steps}});
  answers.add("stalls", "places",
              {{"rank", 0},
               {"stall", "sync"},
               {"op", "c10d::barrier"},
               {"waits", waits},
               {"idle_ns", 12'000'000}});
  return answers;
}

// Of each step, as the title counts; what is in some of them only, in all.
TEST(HostSync, PlacesSayWaitsOfHowManySteps) {
  const Advice some = at_barriers(8, 1).advise();
  const Sentence& in_all = finding_of(some, "host-sync")->evidence.front().text;
  EXPECT_EQ(in_all.form,
            "{}: {} idle per step on average, in {} gaps between GPU work in {} steps");
  EXPECT_EQ(in_all.figures[2].value, 8);
  EXPECT_EQ(in_all.figures[3].value, 4);
  const Advice advice = at_barriers(8, 4).advise();
  const Finding* finding = finding_of(advice, "host-sync");
  ASSERT_NE(finding, nullptr);
  const Sentence& text = finding->evidence.front().text;
  EXPECT_EQ(text.form, "{}: {} idle per step, in {} gaps between GPU work");
  EXPECT_EQ(text.figures[1].value, 3e6);
  EXPECT_EQ(text.figures[2].value, 2);
  EXPECT_EQ(finding->title.form, "The CPU stops to wait for the GPU");
  EXPECT_NE(finding->changes.front().code.find("barrier"), std::string::npos);
}

Answers allocating(std::int64_t idle_ns, int first_step, int last_step) {
  Answers answers;
  answers.steps().stall("allocator", idle_ns);
  for (int step = 0; step < 4; ++step) {
    answers.add("stalls", "steps",
                {{"rank", 0}, {"step", step}, {"stall", "launch"}, {"count", 0}});
    if (step < first_step || step > last_step) continue;
    answers.add("stalls", "steps",
                {{"rank", 0}, {"step", step}, {"stall", "allocator"}, {"count", 5}});
  }
  return answers;
}

TEST(AllocatorChurn, OnlyInSteadyState) {
  ASSERT_NE(finding_of(allocating(2'000'000, 0, 3).advise(), "allocator-churn"), nullptr);
  ASSERT_NE(finding_of(allocating(2'000'000, 1, 2).advise(), "allocator-churn"), nullptr);
  // The first step warms up, and one later step may be another batch size.
  EXPECT_EQ(finding_of(allocating(2'000'000, 0, 0).advise(), "allocator-churn"), nullptr);
  EXPECT_EQ(finding_of(allocating(2'000'000, 0, 1).advise(), "allocator-churn"), nullptr);
  EXPECT_EQ(finding_of(allocating(200'000, 0, 3).advise(), "allocator-churn"), nullptr);
}

TEST(CheckpointStall, CountsWaitsAndCopies) {
  const Advice save =
      Answers().steps(50e6).stall("save", 30'000'000, {{"copy_ns", 8'000'000}}).advise();
  const Finding* finding = finding_of(save, "checkpoint-stall");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.form.find("checkpoint"), std::string::npos);
  // Half of the copies: pinned memory is twice as fast; and what recording one tensor may cost.
  EXPECT_EQ(finding->gain->low, 27'900'000 - 45'000);
  EXPECT_GE(finding->gain->high, 32'000'000);  // all of them
  const Advice little = Answers().steps(50e6).stall("save", 2'400'000).advise();
  EXPECT_EQ(finding_of(little, "checkpoint-stall"), nullptr);
}

TEST(HostPause, IsLongForTheRunAndNotCalledACheckpoint) {
  const auto pause = [](std::int64_t longest, std::int64_t steps) {
    return Answers()
        .steps(50e6)
        .stall("pause", 10'000'000, {{"longest_ns", longest}, {"steps", steps}})
        .advise();
  };
  const Advice advice = pause(40'000'000, 1);
  const Finding* finding = finding_of(advice, "host-pause");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain->low, 9'000'000);
  // Slow launching after it is its doing only as far as the GPU had work in the pause.
  const auto beside_launching = [](std::int64_t host_ns) {
    Answers answers = Answers().steps(50e6).stall("launch", 20'000'000, {{"inside_ns", 0}});
    answers.stall("pause", 10'000'000, {{"host_ns", 4 * host_ns}});
    return finding_of(answers.advise(), "host-pause")->gain->high;
  };
  EXPECT_EQ(beside_launching(12'000'000), 12'050'000);
  EXPECT_EQ(beside_launching(90'000'000), 30'050'000);
  EXPECT_NE(finding->detail.form.find("garbage collector"), std::string::npos);
  EXPECT_EQ(finding_of(advice, "checkpoint-stall"), nullptr);
  EXPECT_EQ(finding_of(pause(1'900'000, 1), "host-pause"), nullptr);  // short for this run
  EXPECT_NE(finding_of(pause(1'900'000, 2), "host-pause"), nullptr);  // in every other step
}

TEST(GpuIdle, NeverMoreThanAWarning) {
  const auto waiting = [](std::int64_t idle) {
    return Answers()
        .steps()
        .add("idle-time", "devices",
             {{"rank", 0}, {"communication_ns", 4 * idle}, {"kernel_ns", 0}, {"other_ns", 0}})
        .advise();
  };
  EXPECT_EQ(finding_of(waiting(990'000), "gpu-idle"), nullptr);
  const Advice advice = waiting(8'000'000);
  ASSERT_NE(finding_of(advice, "gpu-idle"), nullptr);
  EXPECT_EQ(finding_of(advice, "gpu-idle")->level, Level::kWarning);
  EXPECT_EQ(finding_of(advice, "gpu-idle")->gain->low, 0);
}

TEST(GpuIdle, SaysWhereToLookAndKnowsALoneRank) {
  const auto talking = [](std::int64_t world) {
    Answers answers;
    answers.steps().stall("communication", 5'000'000);
    answers.add("idle-time", "devices", {{"rank", 0}, {"kernel_ns", 4}});
    answers.add("overview", "run", {{"ranks", 1}, {"world_size", world}});
    return *finding_of(answers.advise(), "gpu-idle");
  };
  EXPECT_NE(talking(8).verify.find("'communication'"), std::string::npos);
  EXPECT_NE(talking(8).changes.front().why.find("record the others"), std::string::npos);
  EXPECT_NE(talking(1).changes.front().why.find("no other to wait for"), std::string::npos);
  const Advice queued = Answers()
                            .steps()
                            .add("idle-time", "devices", {{"rank", 0}, {"kernel_ns", 20'000'000}})
                            .advise();
  EXPECT_NE(finding_of(queued, "gpu-idle")->verify.find("'kernel_ns'"), std::string::npos);
}

TEST(Thresholds, OfTheUserWin) {
  EXPECT_EQ(finding_of(loader(2'000'000).advise({{"input-bound.notice", 0.3},
                                                 {"input-bound.warning", 0.4},
                                                 {"input-bound.critical", 0.5}}),
                       "input-bound"),
            nullptr);
}

}  // namespace
}  // namespace stepscope::advice
