// Waits and batches whose sums are known by construction.
#include "analysis/loading/loader_sums.h"

#include <gtest/gtest.h>

#include "analysis/loading/iterations.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

constexpr Nanos kLoaderSumsMs = 1'000'000;

// One pass: the loop works so long on each batch, a worker makes each in so long, side by side.
struct LoaderSumsLoop {
  RankLoading loading = {};
  std::vector<RecordedStep> steps = {};
  Nanos now = 0;

  void batch(Nanos wait, Nanos work, Nanos make, std::int64_t pass, std::int64_t number,
             bool traced = false) {
    BatchWait one{.loader = "DataLoader", .phase = "training", .start = now, .end = now + wait};
    one.until = one.end + work;
    one.used = one.end;
    one.iteration = pass;
    one.number = number;
    one.worker = 0;
    one.first = number == 0;
    one.made = loading.made.size();
    loading.made.push_back({.loader = "DataLoader",
                            .start = one.end - make,
                            .end = one.end,
                            .pid = 7,
                            .worker = 0,
                            .iteration = pass,
                            .number = number});
    steps.push_back({.number = static_cast<std::int64_t>(steps.size()),
                     .start = now,
                     .length = wait + work,
                     .traced = traced});
    now = one.until;
    loading.waits.push_back(one);
  }

  LoaderSums sums() const { return loader_sums(loading, steps, kLoaderSumsMs).begin()->second; }
};

TEST(LoaderSums, WorkersNeededIsMakingOverWorkingAndATenth) {
  const struct {
    Nanos make, work;
    std::int64_t needed;
  } cases[] = {
      {20 * kLoaderSumsMs, 40 * kLoaderSumsMs, 1}, {20 * kLoaderSumsMs, 22 * kLoaderSumsMs, 1},
      {20 * kLoaderSumsMs, 21 * kLoaderSumsMs, 2}, {20 * kLoaderSumsMs, 5 * kLoaderSumsMs, 5},
      {20 * kLoaderSumsMs, 1 * kLoaderSumsMs, 22}, {1 * kLoaderSumsMs, 100 * kLoaderSumsMs, 1},
  };
  for (const auto& c : cases) {
    LoaderSumsLoop loop;
    for (std::int64_t i = 0; i < 20; ++i) loop.batch(c.make, c.work, c.make, 0, i);
    EXPECT_EQ(loop.sums().workers_needed(), c.needed) << c.make << " " << c.work;
  }
}

TEST(LoaderSums, WorkersNeededLeavesOutTracedStepsValidationAndTheFirstBatch) {
  LoaderSumsLoop loop;
  for (std::int64_t pass = 0; pass < 2; ++pass) {
    for (std::int64_t i = 0; i < 20; ++i) {
      const bool traced = i >= 10 && i < 13;
      const bool first = pass == 0 && i == 0;
      loop.batch(20 * kLoaderSumsMs, traced ? 200 * kLoaderSumsMs : 10 * kLoaderSumsMs,
                 first ? 500 * kLoaderSumsMs : 20 * kLoaderSumsMs, pass, i, traced);
    }
    loop.loading.waits.back().until += 3000 * kLoaderSumsMs;  // validation, between two steps
    loop.now += 3000 * kLoaderSumsMs;
  }
  const LoaderSums sums = loop.sums();
  EXPECT_EQ(sums.between.mean(), 10.0 * kLoaderSumsMs);
  EXPECT_EQ(sums.workers_needed(), 3);  // 2 and a tenth
}

TEST(LoaderSums, TheShareOfWaitingLeavesOutAProfilerAndTheEndOfAPass) {
  LoaderSumsLoop loop;
  for (std::int64_t i = 0; i < 20; ++i) {
    const bool traced = i >= 10 && i < 13;
    loop.batch(10 * kLoaderSumsMs, traced ? 200 * kLoaderSumsMs : 10 * kLoaderSumsMs,
               10 * kLoaderSumsMs, 0, i, traced);
    if (i != 9 && i != 12) continue;
    loop.now += 1500 * kLoaderSumsMs;  // it opens, and writes, between two steps
    loop.loading.waits.back().until = loop.now;
  }
  BatchWait in_vain{.loader = "DataLoader", .phase = "training", .start = loop.now};
  in_vain.end = in_vain.until = loop.now + 3000 * kLoaderSumsMs;  // workers are let go
  loop.loading.waits.push_back(in_vain);
  const LoaderSums sums = loop.sums();
  EXPECT_EQ(sums.waits.sum(), 200 * kLoaderSumsMs);
  EXPECT_DOUBLE_EQ(sums.wait_share(), 0.5);
  EXPECT_DOUBLE_EQ(sums.later_wait_share(), 160.0 / 330.0);
  EXPECT_EQ(sums.end_ns, 3000 * kLoaderSumsMs);
  // Where all were traced, they are all there is.
  for (RecordedStep& step : loop.steps) step.traced = true;
  EXPECT_DOUBLE_EQ(loop.sums().wait_share(), 200.0 / (200 + 170 + 600));
}

TEST(LoaderSums, ALoopThatValidatesBetweenTwoBatchesIsNotLongerForIt) {
  LoaderSumsLoop loop;
  for (std::int64_t i = 0; i < 20; ++i) {
    loop.batch(10 * kLoaderSumsMs, 90 * kLoaderSumsMs, 10 * kLoaderSumsMs, 0, i);
    BatchWait& wait = loop.loading.waits.back();
    RecordedStep& step = loop.steps.back();
    wait.aside = step.aside = {{wait.end, wait.end + 50 * kLoaderSumsMs}};
    step.length -= 50 * kLoaderSumsMs;
  }
  EXPECT_DOUBLE_EQ(loop.sums().wait_share(), 0.2);
  EXPECT_EQ(loop.sums().between.mean(), 40.0 * kLoaderSumsMs);
  loop.steps.clear();  // none is marked
  EXPECT_DOUBLE_EQ(loop.sums().wait_share(), 0.2);
  EXPECT_EQ(loop.sums().between.mean(), 40.0 * kLoaderSumsMs);
}

TEST(LoaderSums, WaitingForACoreIsNoMaking) {
  LoaderSumsLoop loop;
  for (std::int64_t i = 0; i < 20; ++i)
    loop.batch(20 * kLoaderSumsMs, 10 * kLoaderSumsMs, 20 * kLoaderSumsMs, 0, i);
  for (MadeBatch& one : loop.loading.made) one.starved_ns = 12 * kLoaderSumsMs;
  EXPECT_EQ(loop.sums().workers_needed(), 1);  // 8 ms of its own, every 10 ms
}

TEST(LoaderSums, AWorkerThatStaysIsNotIdleBetweenPasses) {
  LoaderSumsLoop loop;
  for (std::int64_t pass = 0; pass < 3; ++pass) {
    for (std::int64_t i = 0; i < 10; ++i)
      loop.batch(20 * kLoaderSumsMs, 0, 20 * kLoaderSumsMs, pass, i);
    loop.now += 5000 * kLoaderSumsMs;  // no batch is asked for
  }
  const WorkerSums worker = loop.sums().workers.at(0);
  EXPECT_EQ(worker.processes.size(), 1U);
  EXPECT_EQ(worker.made.lengths.sum(), 600 * kLoaderSumsMs);
  EXPECT_EQ(worker.alive_ns(), 600 * kLoaderSumsMs);  // busy all the time
}

TEST(LoaderSums, AWaitForWorkersThatStartIsOfThat) {
  LoaderSumsLoop loop;
  loop.batch(1000 * kLoaderSumsMs, 5 * kLoaderSumsMs, 20 * kLoaderSumsMs, 0, 0);
  for (std::int64_t i = 1; i < 10; ++i)
    loop.batch(20 * kLoaderSumsMs, 5 * kLoaderSumsMs, 20 * kLoaderSumsMs, 0, i);
  const LoaderSums sums = loop.sums();
  EXPECT_EQ(sums.cause(), LateCause::kStartUp);
  EXPECT_EQ(name_of(LateCause::kStartUp), "start-up");
  EXPECT_EQ(sums.causes.at(LateCause::kStartUp), 1000 * kLoaderSumsMs);
  EXPECT_EQ(sums.workers.at(0).late, 9);  // the first was not late: it had not begun
  // A first batch that takes as long to make as it was waited for is no start.
  LoaderSumsLoop slow;
  for (std::int64_t i = 0; i < 10; ++i)
    slow.batch(20 * kLoaderSumsMs, 5 * kLoaderSumsMs, 20 * kLoaderSumsMs, 0, i);
  EXPECT_FALSE(slow.sums().causes.contains(LateCause::kStartUp));
}

TEST(Iterations, ABatchThatIsKeptBackCountsWhereItIsUsed) {
  // Who asks is one batch ahead: each is used in the step in which the next one came.
  LoaderSumsLoop loop;
  for (std::int64_t i = 0; i < 11; ++i)
    loop.batch(5 * kLoaderSumsMs, 10 * kLoaderSumsMs, 5 * kLoaderSumsMs, 0, i);
  std::vector<BatchWait>& waits = loop.loading.waits;
  waits.back().number.reset();  // the loader had no more
  waits.back().made = kNoBatch;
  for (std::size_t i = 0; i + 1 < waits.size(); ++i) {
    waits[i].samples = 8;
    waits[i].used = waits[i + 1].end;
  }
  // The first step took the first two batches; the last one asked in vain.
  std::vector<RecordedStep> steps(loop.steps.begin() + 1, loop.steps.end());
  steps.front().start -= 15 * kLoaderSumsMs;
  steps.front().length += 15 * kLoaderSumsMs;
  const auto phases = iterations_of(&loop.loading, steps);
  const auto& training = phases.at("training");
  ASSERT_EQ(training.size(), 10U);
  for (const Iteration& one : training) EXPECT_EQ(one.samples, 8);
}

// Worker 0 opens its data once, worker 1 is late from then on.
TEST(LoaderSums, TheLateWorkerIsTheOneThatStaysLate) {
  LoaderSumsLoop loop;
  for (std::int64_t i = 0; i < 20; ++i) {
    loop.batch(i == 0 ? 1500 * kLoaderSumsMs : (i % 2 == 1 ? 20 * kLoaderSumsMs : 0),
               10 * kLoaderSumsMs, 30 * kLoaderSumsMs, 0, i / 2);
    loop.loading.waits.back().worker = i % 2;
    loop.loading.waits.back().first = i == 0;
    loop.loading.made.back().worker = i % 2;
    if (i == 0) loop.loading.made.back().start -= 1500 * kLoaderSumsMs;
  }
  const LoaderSums sums = loop.sums();
  EXPECT_GT(sums.workers.at(0).late_ns, sums.workers.at(1).late_ns);
  EXPECT_EQ(sums.late_worker(), 1);
}

}  // namespace
}  // namespace stepscope::analysis
