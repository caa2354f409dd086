// Advice fits the machine and the recording: processors, GPUs, files, and what recorded.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

struct Machine {
  double processors = 16, limit = 0, busy_share = 0, job_cores = 0;
  std::int64_t workers = 0;
  base::Cell usable = base::Null{};
};

// Steps of 10 ms of which the training thread waited 4 ms for a processor.
Answers waiting_on(const Machine& machine, double waited = 0.4) {
  Answers answers = Answers().steps().stall("launch", 1);
  answers.add("system", "machines",
              {{"node", "a"},
               {"processors", static_cast<std::int64_t>(machine.processors)},
               {"cpu_mean_share", machine.busy_share},
               {"job_cores", machine.job_cores},
               {"cpu_limit_cores",
                machine.limit > 0 ? base::Cell(machine.limit) : base::Cell(base::Null{})}});
  answers.add("system", "processes",
              {{"rank", 0},
               {"node", "a"},
               {"processes", "training"},
               {"most", 1},
               {"mean_cores", 3.0},
               {"usable_cores", machine.usable},
               {"waited_share", waited}});
  if (machine.workers > 0) {
    answers.add("system", "processes",
                {{"rank", 0},
                 {"node", "a"},
                 {"processes", "started by it"},
                 {"most", machine.workers},
                 {"mean_cores", 2.0}});
  }
  answers.add("overview", "devices", {{"rank", 0}, {"device", 0}, {"busy_share", 0.2}});
  return answers;
}

std::string machine_rules_codes_of(const Finding& finding) {
  std::string out;
  for (const Change& change : finding.changes) out += change.why + "\n" + change.code + "\n";
  return out;
}

bool text_contains(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

TEST(CpuContention, TheJobsOwnThreads) {
  // 7.6 of the 8 processors that it may use, of 64.
  const Advice advice =
      waiting_on({.processors = 64, .limit = 8, .busy_share = 0.15, .job_cores = 7.6, .workers = 5})
          .advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(text_contains(finding->title.form, "The job runs more threads"))
      << finding->title.form;
  const std::string codes = machine_rules_codes_of(*finding);
  EXPECT_TRUE(text_contains(codes, "OMP_NUM_THREADS=3 "))
      << codes;                                       // 8 less a processor for each worker
  EXPECT_FALSE(text_contains(codes, "num_workers"));  // 5 workers fit beside the loop
  EXPECT_FALSE(text_contains(codes, "exclusive"));
}

TEST(CpuContention, SaysWhyItsGainIsLargerThanTheWait) {
  const Advice advice =
      waiting_on({.processors = 2, .busy_share = 1, .job_cores = 2, .workers = 1}, 0.1).advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_GT(finding->gain->high, 1'000'000);
  EXPECT_TRUE(text_contains(finding->about_gain.form, "which was not measured, waits as long"))
      << finding->about_gain.form;
  EXPECT_TRUE(text_contains(finding->evidence.back().text.form, "{} process that it started kept"));
}

TEST(CpuContention, SaysNothingOfLessThanATick) {
  Answers answers = waiting_on({.processors = 2, .busy_share = 1, .job_cores = 2}, 1.0);
  EXPECT_NE(finding_of(answers.advise(), "cpu-contention"), nullptr);
  Answers recorded;
  recorded.add("throughput", "phases",
               {{"rank", 0},
                {"phase", "training"},
                {"iterations", 1},
                {"measured", 1},
                {"iterations_per_second", 2777.0}});
  recorded.add("system", "machines",
               {{"node", "a"}, {"processors", 2}, {"cpu_mean_share", 1.0}, {"job_cores", 1.0}});
  recorded.add("system", "processes",
               {{"rank", 0},
                {"node", "a"},
                {"processes", "training"},
                {"most", 1},
                {"mean_cores", 1.0},
                {"waited_share", 1.0}});
  EXPECT_EQ(finding_of(recorded.advise(), "cpu-contention"), nullptr);
}

TEST(CpuContention, MoreWorkersThanProcessors) {
  const Advice advice =
      waiting_on({.processors = 4, .busy_share = 0.97, .job_cores = 3.8, .workers = 12}).advise();
  const std::string codes = machine_rules_codes_of(*finding_of(advice, "cpu-contention"));
  EXPECT_TRUE(text_contains(codes, "num_workers=3")) << codes;
  EXPECT_TRUE(text_contains(codes, "OMP_NUM_THREADS=1 "));
  EXPECT_TRUE(text_contains(codes, "--cpus-per-task=14"));
}

TEST(CpuContention, NeighboursAreNotTheProgramsFault) {
  // The machine is full, and 12 of its 16 processors are busy for others.
  const Advice advice =
      waiting_on({.processors = 16, .busy_share = 0.95, .job_cores = 3.2, .workers = 2}).advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(text_contains(finding->title.form, "Other programs take the processors"));
  const std::string codes = machine_rules_codes_of(*finding);
  EXPECT_TRUE(text_contains(codes, "--exclusive"));
  EXPECT_TRUE(text_contains(codes, "--cpus-per-task=4")) << codes;
  EXPECT_TRUE(text_contains(codes, "taskset -c 0-3 "));
  EXPECT_FALSE(text_contains(codes, "OMP_NUM_THREADS"));
}

TEST(CpuContention, ANeighbourOnAFreeMachineIsNotBlamed) {
  // 6 of 16 processors busy in all: not full.
  const Advice advice =
      waiting_on({.processors = 16, .busy_share = 0.375, .job_cores = 2.0}).advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(text_contains(finding->detail.form, "the machine was not full"));
  EXPECT_FALSE(text_contains(machine_rules_codes_of(*finding), "exclusive"));
  EXPECT_EQ(finding_of(waiting_on({.busy_share = 0.95, .job_cores = 15}, 0.04).advise(),
                       "cpu-contention"),
            nullptr);
}

TEST(CpuContention, ARankThatWasNotSampledIsNoNeighbour) {
  // The same as with neighbours, but the work may be that of the other rank.
  const Advice advice =
      waiting_on({.processors = 16, .busy_share = 0.95, .job_cores = 3.2, .workers = 2})
          .add("steps", "times", {{"rank", 1}, {"steps", 4}, {"mean_ns", 9e6}})
          .advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  ASSERT_NE(finding, nullptr);
  EXPECT_TRUE(text_contains(finding->title.form, "Training waits for a processor"))
      << finding->title.form;
  EXPECT_TRUE(text_contains(finding->detail.form, "was not recorded"));
  EXPECT_FALSE(text_contains(machine_rules_codes_of(*finding), "exclusive"));
}

TEST(CpuContention, CountsTheProcessorsThatTheRankMayRunOn) {
  // 4 of the 64 processors, by the scheduler's binding: 3.6 busy are nearly all of them.
  const Advice advice =
      waiting_on({.processors = 64, .busy_share = 0.9, .job_cores = 3.6, .usable = 4.0}).advise();
  const Finding* finding = finding_of(advice, "cpu-contention");
  EXPECT_TRUE(text_contains(finding->title.form, "The job runs more threads"));
  EXPECT_TRUE(text_contains(machine_rules_codes_of(*finding), "OMP_NUM_THREADS=4 "));
}

TEST(CpuContention, ProcessesThatWantMoreThanThereIsAreTheJobsOwnOnABusyMachineToo) {
  // Bound to one processor, which neighbours use as well: 4 processes want 0.5 + 3.2 of it.
  Answers answers =
      waiting_on({.processors = 2, .busy_share = 1.0, .job_cores = 0.5, .usable = 1.0}, 0.8);
  answers.add("system", "processes",
              {{"rank", 0},
               {"node", "a"},
               {"processes", "started by it"},
               {"most", 3},
               {"mean_cores", 0.4},
               {"waited_share", 0.8}});
  const Advice advice = answers.advise();
  EXPECT_TRUE(text_contains(machine_rules_codes_of(*finding_of(advice, "cpu-contention")),
                            "OMP_NUM_THREADS=1 "));
}

// A loader whose batches take 16 ms where one is wanted every 2 ms.
struct Watched {
  std::int64_t workers = 1;
  std::int64_t read_bytes = 0;
  const char* cause = "fetch, computing";
  double processors = 0;  // 0: the machine was not sampled
  bool gpu = true;
  const char* loader = "_SingleProcessDataLoaderIter";
};

const Finding& loading(const Watched& watched, Advice& kept) {
  Answers answers;
  answers.steps().stall("input", 2'000'000);
  answers.add("dataloader", "loaders",
              {{"rank", 0}, {"loader", watched.loader}, {"fetches", 4}, {"sum_ns", 8'000'000}});
  answers.add("dataloader", "ranks", {{"rank", 0}, {"steps", 4}, {"wait_ns", 8'000'000}});
  answers.add("loader", "loaders",
              {{"rank", 0},
               {"loader", "DataLoader"},
               {"phase", "training"},
               {"workers", watched.workers},
               {"batches", 4},
               {"waited", *watched.cause == 0 ? 0 : 4},
               {"wait_ns", 32'000'000},
               {"wait_share", 0.8},
               {"cause", *watched.cause == 0 ? base::Cell(base::Null{})
                                             : base::Cell(std::string_view(watched.cause))},
               {"make_ns", 16e6},
               {"workers_needed", 8},
               {"fetch_share", 0.7},
               {"read_bytes", watched.read_bytes},
               {"storage_bytes", 0},
               {"files", 0}});
  if (watched.processors > 0) {
    answers.add("system", "machines",
                {{"node", "a"}, {"processors", static_cast<std::int64_t>(watched.processors)}});
    answers.add("system", "processes", {{"rank", 0}, {"node", "a"}, {"processes", "training"}});
  }
  if (!watched.gpu) answers.no_device_work();
  kept = answers.advise();
  return *finding_of(kept, "input-bound");
}

TEST(InputBound, NeverAsksForMoreWorkersThanProcessors) {
  Advice kept;
  EXPECT_TRUE(
      text_contains(machine_rules_codes_of(loading({.processors = 4}, kept)), "num_workers=3,"));
  // 8 would keep up, and there is room for them.
  EXPECT_TRUE(
      text_contains(machine_rules_codes_of(loading({.processors = 64}, kept)), "num_workers=8,"));
  // Not known: the program counts.
  EXPECT_TRUE(text_contains(machine_rules_codes_of(loading({}, kept)),
                            "num_workers=min(8, max(1, len(os.sched_getaffinity(0)) - 1)),"));
  const Finding& full = loading({.workers = 3, .processors = 4}, kept);
  EXPECT_FALSE(text_contains(machine_rules_codes_of(full), "num_workers="));
  EXPECT_TRUE(text_contains(machine_rules_codes_of(full), "--cpus-per-task=9"));
}

TEST(InputBound, SpeaksOfOneWorker) {
  Advice kept;
  EXPECT_TRUE(loading({.workers = 1}, kept).detail.form.find("{} worker makes") !=
              std::string::npos);
  EXPECT_TRUE(loading({.workers = 2}, kept).detail.form.find("{} workers make") !=
              std::string::npos);
}

TEST(InputBound, HasNoWordsOfGpusWhereThereIsNone) {
  Advice kept;
  for (const char* cause : {"fetch, computing", "transform", "hand-over", "collate"}) {
    const std::string words =
        machine_rules_codes_of(loading({.workers = 0, .cause = cause, .gpu = false}, kept));
    for (const char* word : {"GPU", "pin_memory", "non_blocking", "device"}) {
      EXPECT_FALSE(text_contains(words, word)) << cause << ": " << words;
    }
  }
  EXPECT_TRUE(
      text_contains(machine_rules_codes_of(loading({.workers = 0}, kept)), "pin_memory=True"));
}

TEST(InputBound, ADatasetInMemoryHasNoFilesToStore) {
  Advice kept;
  const std::string memory = machine_rules_codes_of(loading({.read_bytes = 4 * 100}, kept));
  EXPECT_FALSE(text_contains(memory, "cache/")) << memory;
  EXPECT_TRUE(text_contains(memory, "__getitems__"));
  const std::string waits = machine_rules_codes_of(loading({.cause = "fetch, waiting"}, kept));
  EXPECT_FALSE(text_contains(waits, "copytree")) << waits;
  EXPECT_TRUE(text_contains(machine_rules_codes_of(loading(
                                {.read_bytes = 4 * 1'000'000, .cause = "fetch, waiting"}, kept)),
                            "copytree"));
  EXPECT_TRUE(text_contains(machine_rules_codes_of(loading({.read_bytes = 4 * 1'000'000}, kept)),
                            "cache/"));
}

// Lightning's fetch has another name than torch's loaders, and its waits may be short.
TEST(InputBound, WorkersThatWereWatchedAreKnownWithoutALongWait) {
  Advice kept;
  const Finding& finding =
      loading({.workers = 2, .cause = "", .loader = "[pl][fetch]_PrefetchDataFetcher"}, kept);
  EXPECT_FALSE(text_contains(finding.detail.form, "not recorded")) << finding.detail.form;
  EXPECT_TRUE(text_contains(finding.detail.form, "{} workers make the batches"));
  EXPECT_FALSE(finding.changes.empty());
}

Answers unnamed_of_machine(std::int64_t other_ns) {
  Answers answers = Answers().steps();
  answers.add("steps", "parts",
              {{"rank", 0}, {"part", "other"}, {"mean_ns", static_cast<double>(other_ns)}});
  answers.add(
      "steps", "steps",
      {{"rank", 0}, {"window", 0}, {"step", 7}, {"step_ns", 10'000'000}, {"other_ns", other_ns}});
  answers.add("stalls", "kinds", {});
  return answers;
}

TEST(UnnamedTime, OnTheCpuAloneSaysWhereAndHowToFindIt) {
  const Advice advice = unnamed_of_machine(6'100'000).no_device_work().advise();
  const Finding* finding = finding_of(advice, "unnamed-time");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_GE(finding->gain->high, 6'100'000);
  EXPECT_EQ(finding->evidence.front().step, 7);
  EXPECT_TRUE(text_contains(machine_rules_codes_of(*finding), "stepscope.lines"));
  EXPECT_TRUE(text_contains(machine_rules_codes_of(*finding), "record_function"));
  EXPECT_EQ(finding_of(unnamed_of_machine(1'990'000).no_device_work().advise(), "unnamed-time"),
            nullptr);
  // One long step among short ones is an outlier, not the way the loop is written.
  Answers once = unnamed_of_machine(6'100'000);
  for (int step = 0; step < 3; ++step) {
    once.add("steps", "steps", {{"rank", 0}, {"step", step}, {"other_ns", 100'000}});
  }
  EXPECT_EQ(finding_of(once.no_device_work().advise(), "unnamed-time"), nullptr);
  // Beside a GPU host-pause and launch-bound judge.
  EXPECT_EQ(finding_of(unnamed_of_machine(6'100'000).advise(), "unnamed-time"), nullptr);
}

TEST(Recording, IsToldInTheWayOfThisRun) {
  const struct {
    Recorder recorder;
    std::string_view shapes, again;
  } cases[] = {
      {Recorder::kTorchProfiler, "record_shapes=True", "torch.profiler"},
      {Recorder::kProfile, "trace=[\"shapes\"]", "stepscope.profile(\"runs/new\")"},
      {Recorder::kCallback, "Callback(\"runs/new\", trace=[\"shapes\"])", "Callback"},
      {Recorder::kRunCommand, "trace: {keep: [shapes]}", "stepscope run --out runs/new"},
  };
  for (const auto& c : cases) {
    EXPECT_TRUE(text_contains(how_to_record(Wanted::kShapes, c.recorder), c.shapes));
    Answers answers = Answers().steps().stall("sync", 3'000'000);
    const Advice advice = answers.recorded_by(c.recorder).advise();
    const std::string& verify = finding_of(advice, "host-sync")->verify;
    EXPECT_TRUE(verify.starts_with("Record again (")) << verify;
    EXPECT_TRUE(text_contains(verify, c.again)) << verify;
    EXPECT_EQ(text_contains(verify, "new.json"), c.recorder == Recorder::kTorchProfiler) << verify;
  }
}

TEST(NotJudged, NobodyIsToldToRecordWhatIsThere) {
  const Advice advice = Answers().steps().stall("launch", 1).advise();
  for (const NotJudged& one : advice.not_judged) {
    EXPECT_NE(one.wanted, Wanted::kDeviceWork) << one.rule << ": " << one.why;
    EXPECT_NE(one.rule, "slow-transfers");  // nothing was copied: nothing to mend
  }
}

TEST(Verdict, SaysHowMuchStepsDiffer) {
  const auto first = [](int steps) {
    Answers answers;
    answers.add("steps", "times",
                {{"rank", 0}, {"steps", steps}, {"mean_ns", 10e6}, {"median_ns", 9'000'000}});
    answers.stall("sync", 3'000'000, {{"idle_ns", steps * 3'000'000}});
    for (int step = 0; step < steps; ++step) {
      answers.add("steps", "steps",
                  {{"rank", 0}, {"step", step}, {"step_ns", 1'000'000 * (step + 1)}});
    }
    const std::vector<Sentence> said = answers.advise().verdict;
    return said.at(steps < 10 ? 1 : 0);  // of few steps it is said first that they are few
  };
  const Sentence few = first(4);
  EXPECT_TRUE(text_contains(few.form, "all {} take {} to {}")) << few.form;
  const Sentence many = first(40);
  EXPECT_TRUE(text_contains(many.form, "9 of 10 take {} to {}")) << many.form;
  EXPECT_EQ(many.figures[2].value, 3e6);   // 2 of 40 are shorter
  EXPECT_EQ(many.figures[3].value, 38e6);  // and 2 longer
}

TEST(CheckpointStall, SaysWhatTheGainAssumes) {
  const Advice save = Answers().steps(50e6).stall("save", 30'000'000, {{"steps", 1}}).advise();
  const Sentence& detail = finding_of(save, "checkpoint-stall")->detail;
  EXPECT_TRUE(text_contains(detail.form, "as often as this recording")) << detail.form;
  EXPECT_EQ(detail.figures.back().value, 120'000);  // 120 ms once in 1,000 steps
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(detail.form, '{')), detail.figures.size());
}

}  // namespace
}  // namespace stepscope::advice
