// How many workers input-bound speaks of, and of which steps: one number in every sentence.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

bool has_input_bound(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string input_bound_codes_of(const Finding& finding) {
  std::string all;
  for (const Change& change : finding.changes) all += change.why + "\n" + change.code + "\n";
  return all;
}

struct Case {
  std::int64_t workers = 0, needed = 0;
  double processors = 0;  // 0: not sampled
  const char* cause = "transform";
  double cpu_cores = 1;
};

Answers waits_for(const Case& c) {
  Answers answers;
  answers.steps().stall("input", 2'000'000);
  answers.add("dataloader", "loaders",
              {{"rank", 0}, {"loader", "DataLoader"}, {"fetches", 4}, {"sum_ns", 8'000'000}});
  answers.add("dataloader", "ranks", {{"rank", 0}, {"steps", 4}, {"wait_ns", 8'000'000}});
  answers.add("loader", "loaders",
              {{"rank", 0},
               {"loader", "DataLoader"},
               {"phase", "training"},
               {"workers", c.workers},
               {"batches", 40},
               {"waited", 40},
               {"passes", 4},
               {"first_wait_ns", 400'000'000},
               {"wait_ns", 80'000'000},
               {"wait_share", 0.2},
               {"cause", c.cause},
               {"make_ns", 20e6},
               {"workers_needed", c.needed},
               {"cpu_cores", c.cpu_cores},
               {"transform_share", 0.9}});
  if (c.processors > 0) {
    answers.add("system", "machines",
                {{"node", "a"}, {"processors", static_cast<std::int64_t>(c.processors)}});
    answers.add("system", "processes", {{"rank", 0}, {"node", "a"}, {"processes", "training"}});
  }
  return answers;
}

TEST(InputBoundWorkers, EverySentenceNamesTheSameNumber) {
  const struct {
    Case given;
    std::string_view detail, code, not_code;
  } cases[] = {
      // As many as keep up fit beside the loop.
      {{.workers = 2, .needed = 5, .processors = 8},
       "{} workers would keep up, if each has a core.",
       "num_workers=5,",
       "cpus-per-task"},
      {{.workers = 0, .needed = 1, .processors = 4},
       "{} worker would keep up, if it has a core.",
       "num_workers=1,",
       "cpus-per-task"},
      // They do not: what fits is said, and what would have to be asked for.
      {{.workers = 0, .needed = 2, .processors = 2},
       "; the rank has {} processors, {} beside",
       "num_workers=1,",
       "num_workers=2"},
      {{.workers = 0, .needed = 2, .processors = 2},
       "{} workers would keep up",
       "--cpus-per-task=3",
       "cpus-per-task=2"},
      {{.workers = 15, .needed = 27, .processors = 16},
       "{} workers would keep up",
       "--cpus-per-task=28",
       "num_workers="},
      // No node has so many: a batch must become cheaper.
      {{.workers = 4, .needed = 300, .processors = 16},
       "{} workers would keep up",
       "num_workers=15,",
       "cpus-per-task"},
  };
  for (const auto& c : cases) {
    const Advice advice = waits_for(c.given).advise();
    const Finding* finding = finding_of(advice, "input-bound");
    ASSERT_NE(finding, nullptr);
    EXPECT_TRUE(has_input_bound(finding->detail.form, c.detail)) << finding->detail.form;
    const std::string codes = input_bound_codes_of(*finding);
    EXPECT_TRUE(has_input_bound(codes, c.code)) << codes;
    EXPECT_FALSE(has_input_bound(codes, c.not_code)) << codes;
    const auto places = std::ranges::count(finding->detail.form, '{');
    EXPECT_EQ(static_cast<std::size_t>(places), finding->detail.figures.size());
  }
}

// Workers of a dataset that waits (a network, a lock, sleep) need no core each.
TEST(InputBoundWorkers, ThatWaitShareAProcessor) {
  constexpr const char* kWaits = "fetch, waiting";
  const struct {
    Case given;
    std::string_view detail, code, not_code;
  } cases[] = {
      // One processor beside the loop serves them all.
      {{.workers = 0, .needed = 12, .processors = 2, .cause = kWaits, .cpu_cores = 0.03},
       "{} workers would keep up; they wait most of the time and need no core each: together they "
       "keep {} processors busy.",
       "num_workers=12,",
       "cpus-per-task"},
      // And half of the only one.
      {{.workers = 0, .needed = 12, .processors = 1, .cause = kWaits, .cpu_cores = 0.03},
       "together they keep {} processors busy.",
       "num_workers=12,",
       "cpus-per-task"},
      {{.workers = 0, .needed = 12, .cause = kWaits, .cpu_cores = 0.03},
       "together they keep {} processors busy.",
       "num_workers=12,",
       "sched_getaffinity"},
      // A third of a processor each: three on the one beside the loop.
      {{.workers = 0, .needed = 12, .processors = 2, .cause = kWaits, .cpu_cores = 0.3},
       "; the rank has {} processors, {} beside",
       "num_workers=3,",
       "num_workers=12"},
      {{.workers = 0, .needed = 12, .processors = 2, .cause = kWaits, .cpu_cores = 0.3},
       "keep {} processors busy",
       "--cpus-per-task=5",
       "one for each"},
      {{.workers = 0, .needed = 12, .cause = kWaits, .cpu_cores = 0.3},
       "keep {} processors busy",
       "num_workers=min(12, 3 * max(1, len(os.sched_getaffinity(0)) - 1)),",
       "cpus-per-task"},
      // Hundreds are never started.
      {{.workers = 0, .needed = 300, .processors = 2, .cause = kWaits, .cpu_cores = 0.01},
       "; more than {} are not advised",
       "num_workers=32,",
       "cpus-per-task"},
      {{.workers = 32, .needed = 300, .processors = 16, .cause = kWaits, .cpu_cores = 0.01},
       "; more than {} are not advised",
       "shutil.copytree",
       "num_workers="},
      // It computes more than it waits: a core each, as ever.
      {{.workers = 0, .needed = 2, .processors = 2, .cause = kWaits, .cpu_cores = 0.6},
       "{} workers would keep up, if each has a core; the rank",
       "num_workers=1,",
       "num_workers=2"},
  };
  for (const auto& c : cases) {
    const Advice advice = waits_for(c.given).advise();
    const Finding* finding = finding_of(advice, "input-bound");
    ASSERT_NE(finding, nullptr);
    EXPECT_TRUE(has_input_bound(finding->detail.form, c.detail)) << finding->detail.form;
    const std::string codes = input_bound_codes_of(*finding);
    EXPECT_TRUE(has_input_bound(codes, c.code)) << codes;
    EXPECT_FALSE(has_input_bound(codes, c.not_code)) << codes;
    const auto places = std::ranges::count(finding->detail.form, '{');
    EXPECT_EQ(static_cast<std::size_t>(places), finding->detail.figures.size());
  }
}

TEST(InputBoundWorkers, ThatOnlyStartAreKeptNotMultiplied) {
  const Advice advice =
      waits_for({.workers = 2, .needed = 8, .processors = 16, .cause = "start-up"}).advise();
  const Finding* finding = finding_of(advice, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_input_bound(finding->detail.form, "first batch of each pass"))
      << finding->detail.form;
  EXPECT_FALSE(has_input_bound(finding->detail.form, "keep up"));
  const std::string codes = input_bound_codes_of(*finding);
  EXPECT_TRUE(has_input_bound(codes, "num_workers=2,\n                    persistent_workers=True"))
      << codes;
  EXPECT_FALSE(has_input_bound(codes, "num_workers=8"));
}

// 4 traced steps of 10 ms in which the loop waits so long, and 50 others that wait this share.
Advice bursty(std::int64_t traced_wait_ns, double untraced_share, bool gpu) {
  Answers answers;
  answers.steps().stall("input", gpu ? traced_wait_ns : 0, {{"host_ns", 4 * traced_wait_ns}});
  answers.add(
      "dataloader", "loaders",
      {{"rank", 0}, {"loader", "DataLoader"}, {"fetches", 4}, {"sum_ns", 1 + 4 * traced_wait_ns}});
  answers.add("dataloader", "ranks", {{"rank", 0}, {"steps", 4}, {"wait_ns", 4 * traced_wait_ns}});
  answers.add("throughput", "phases",
              {{"rank", 0},
               {"phase", "training"},
               {"measured", 50},
               {"traced", 4},
               {"iterations_per_second", 100.0},
               {"median_per_second", 100.0},
               {"wait_share", untraced_share}});
  if (!gpu) answers.no_device_work();
  return answers.advise();
}

TEST(InputBoundSteps, AllStepsOpenTheFindingWhereTracedOnesWaitOtherwise) {
  // The traced steps met one wait in four: 1 ms of 10 ms. All others wait 40 % of their time.
  for (const bool gpu : {true, false}) {
    const Advice advice = bursty(1'000'000, 0.4, gpu);
    const Finding* finding = finding_of(advice, "input-bound");
    ASSERT_NE(finding, nullptr) << gpu;
    EXPECT_EQ(finding->title.form, "The training loop waits for data: {} of each step") << gpu;
    EXPECT_EQ(finding->title.figures.front().value, 0.4) << gpu;
    EXPECT_EQ(finding->detail.figures.front().value, 4e6) << gpu;
  }
  // Alike: the trace says what the GPU did.
  const Advice alike = bursty(4'000'000, 0.4, true);
  EXPECT_EQ(finding_of(alike, "input-bound")->title.form,
            "The GPU waits for data: {} of each step");
}

TEST(InputBoundSteps, WaitsOutsideOfTheTraceAreFound) {
  const Advice advice = bursty(0, 0.4, true);
  const Finding* finding = finding_of(advice, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_input_bound(finding->detail.form, "In the traced steps the GPU did not wait"));
  EXPECT_EQ(finding->gain->low, 0);
}

TEST(InputBoundSteps, AGainOfStepsThatWereNotTracedIsTakenOffThose) {
  // Steps wait 15 ms of 20 ms; the traced ones wait 0.2 ms of 10 ms.
  Answers answers;
  answers.steps().rest().no_device_work();
  answers.add("dataloader", "loaders",
              {{"rank", 0}, {"loader", "DataLoader"}, {"fetches", 4}, {"sum_ns", 800'000}});
  answers.add("dataloader", "ranks", {{"rank", 0}, {"steps", 4}, {"wait_ns", 800'000}});
  answers.add("stalls", "kinds", {{"rank", 0}, {"stall", "none"}});
  answers.add("throughput", "phases",
              {{"rank", 0},
               {"phase", "training"},
               {"iterations", 50},
               {"traced", 4},
               {"measured", 45},
               {"iterations_per_second", 50.0},
               {"wait_share", 0.75}});
  const Advice advice = answers.advise();
  const Finding* finding = finding_of(advice, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(static_cast<double>(finding->gain->high), 15e6, 1e4);
  EXPECT_EQ(finding->untraced_step_ns, 20'000'000);
  EXPECT_FALSE(has_input_bound(finding->detail.form, "slow start"));
  EXPECT_TRUE(has_input_bound(finding->verify, "analyze throughput"));
  const auto said = std::ranges::find_if(advice.verdict, [](const Sentence& one) {
    return has_input_bound(one.form, "Without the first finding");
  });
  ASSERT_NE(said, advice.verdict.end());
  EXPECT_TRUE(has_input_bound(said->form, "A step that was not traced takes {}"));
  EXPECT_EQ(said->figures[0].value, 20e6);
  EXPECT_NEAR(said->figures[1].value, 5e6, 1e4);
  EXPECT_EQ(said->figures[2].value, 20e6);
}

TEST(InputBoundWords, WhatIsWatchedAndHasNoWorkersIsNotToldToBeWatched) {
  Answers answers;
  answers.add("loader", "loaders",
              {{"rank", 0},
               {"loader", "It"},
               {"phase", "training"},
               {"workers", 0},
               {"batches", 40},
               {"wait_ns", 3'200'000'000},
               {"wait_share", 0.7}});
  answers.add("throughput", "phases",
              {{"rank", 0},
               {"phase", "training"},
               {"iterations", 40},
               {"measured", 40},
               {"iterations_per_second", 9.0},
               {"wait_share", 0.7}});
  const Advice open = answers.advise();
  const Finding* finding = finding_of(open, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(has_input_bound(finding->detail.form, "It is no DataLoader of torch"));
  EXPECT_TRUE(has_input_bound(finding->detail.form, "what a GPU did meanwhile is not known"));
  EXPECT_FALSE(has_input_bound(input_bound_codes_of(*finding), "prof.watch"));
  EXPECT_FALSE(has_input_bound(input_bound_codes_of(*finding), "your script makes its DataLoader"));
  // A machine that was looked at and has none leaves nothing open.
  answers.add("system", "machines", {{"node", "a"}, {"processors", 2}});
  const Advice seen = answers.advise();
  finding = finding_of(seen, "input-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_FALSE(has_input_bound(finding->detail.form, "may have been at work"));
  EXPECT_TRUE(has_input_bound(finding->detail.form, "No GPU was seen on the machine"));
}

}  // namespace
}  // namespace stepscope::advice
