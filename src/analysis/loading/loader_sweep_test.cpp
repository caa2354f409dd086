#include "analysis/loading/loader_sweep.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/table_line.h"

namespace stepscope::analysis {
namespace {

using enum LoaderSetting;
using testing::ElementsAre;
using testing::Field;
using testing::StartsWith;

// Blocks of one step whose lengths go round these.
TriedSetting measured_loader_sweep(std::int64_t workers, std::vector<std::int64_t> lengths_ns) {
  TriedSetting out;
  out.given[kNumWorkers] = workers;
  LoaderTrial trial;
  for (int i = 0; i < 12; ++i) {
    trial.blocks.push_back(
        {.steps = 1,
         .loading_ns = lengths_ns[static_cast<std::size_t>(i) % lengths_ns.size()],
         .training_ns = 0,
         .samples = 8});
  }
  out.trials.push_back(trial);
  return out;
}

TriedSetting failed(std::int64_t workers, const std::string& why) {
  TriedSetting out;
  out.given[kNumWorkers] = workers;
  out.trouble = TrialTrouble::kFailed;
  out.why = why;
  return out;
}

std::vector<std::string> outcomes(const Answer& answer) {
  std::vector<std::string> out;
  out.reserve(answer.tables[0].rows());
  for (std::size_t row = 0; row < answer.tables[0].rows(); ++row) {
    out.emplace_back(base::TableLine(answer.tables[0], row).text("outcome"));
  }
  return out;
}

TEST(LoaderSweep, TellsTheSameFailureOnce) {
  const std::vector<TriedSetting> tried = {
      measured_loader_sweep(0, {1000, 1010, 990}),
      failed(2, "worker 17 was killed by signal 7 (bus error)"),
      failed(4, "worker 1234 was killed by signal 7 (bus error)"), failed(8, "raised OSError: no")};
  EXPECT_THAT(outcomes(loader_sweep(tried, {})),
              ElementsAre("the only one measured", "worker 17 was killed by signal 7 (bus error)",
                          "failed as the one above", "raised OSError: no"));
}

TEST(LoaderSweep, NamesTheGroupWhereTheFastestIsNotSure) {
  const std::vector<TriedSetting> tried = {measured_loader_sweep(2, {1000, 5000, 200, 9000}),
                                           measured_loader_sweep(4, {900, 5200, 210, 8800}),
                                           measured_loader_sweep(0, {90'000, 91'000, 89'000})};
  const Answer answer = loader_sweep(tried, {});
  const base::TableLine best(answer.tables[1], 0);
  EXPECT_EQ(best.text("not_told_apart"), "num_workers=2; num_workers=4");
  EXPECT_LT(best.number("confidence"), kToldApart);
  EXPECT_THAT(outcomes(answer), ElementsAre("not told apart", "not told apart", "slower"));
}

// Batches of 8 are faster by the sample, and nobody knows whether by enough.
TEST(LoaderSweep, NamesTheOneThatAsksForLeastFirstWhereNoneIsSure) {
  std::vector<TriedSetting> tried = {measured_loader_sweep(3, {1000, 5000, 200, 9000}),
                                     measured_loader_sweep(3, {1100, 5600, 220, 9900})};
  tried[0].given[kBatchSize] = 8;
  tried[1].given[kBatchSize] = 4;
  const Answer answer = loader_sweep(tried, {});
  const base::TableLine best(answer.tables[1], 0);
  EXPECT_EQ(best.text("not_told_apart"), "batch_size=4; batch_size=8");
  EXPECT_EQ(best.text("keywords"), "num_workers=3, batch_size=4");
  EXPECT_EQ(base::TableLine(answer.tables[0], 0).text("setting"), "batch_size=4");
  // None is called the best: they are held against the fastest.
  EXPECT_GT(base::TableLine(answer.tables[0], 0).number("slower_share"), 0);
  EXPECT_EQ(base::TableLine(answer.tables[0], 1).number("slower_share"), 0);
}

TEST(LoaderSweep, SettingsAreNamedByWhatTheyWereAskedFor) {
  std::vector<TriedSetting> tried = {measured_loader_sweep(0, {1000, 1010}),
                                     measured_loader_sweep(2, {500, 510})};
  for (TriedSetting& one : tried) one.told = one.given;
  tried[1].told[kPrefetchFactor] = 2;  // torch's own
  EXPECT_THAT(setting_labels(tried), ElementsAre("num_workers=0", "num_workers=2"));
  // Of jobs that have run, by what differs; without workers there is nothing to prefetch.
  for (TriedSetting& one : tried) one.given = {};
  EXPECT_THAT(setting_labels(tried), ElementsAre("num_workers=0", "num_workers=2"));
}

TEST(LoaderSweep, NamesOneThatIsSure) {
  const std::vector<TriedSetting> tried = {measured_loader_sweep(2, {1000, 1010, 990}),
                                           measured_loader_sweep(4, {2000, 2010, 1990})};
  const Answer answer = loader_sweep(tried, {});
  const base::TableLine best(answer.tables[1], 0);
  EXPECT_FALSE(best.has("not_told_apart"));
  EXPECT_THAT(outcomes(answer), ElementsAre("best", "slower"));
}

TEST(LoaderSweep, ClaimsNothingOfWhatWasNotTried) {
  TriedSetting untried;
  untried.given[kNumWorkers] = 6;
  std::vector<TriedSetting> tried = {measured_loader_sweep(2, {1000, 1010, 990}),
                                     measured_loader_sweep(0, {2000, 2010}), untried};
  tried[0].told = tried[0].given;
  tried[0].told[kBatchSize] = 8;
  tried[1].told = tried[1].given;
  tried[1].told[kBatchSize] = 8;
  const Answer answer = loader_sweep(tried, {.not_tried = 1, .out_of_time = 1});
  const base::TableLine best(answer.tables[1], 0);
  EXPECT_FALSE(best.has("confidence"));
  EXPECT_EQ(best.whole("tried"), 2);
  EXPECT_EQ(best.whole("not_tried"), 1);
  EXPECT_THAT(outcomes(answer),
              ElementsAre("fastest tried", "slower", "not tried: the budget ended"));
  // What the others said of themselves is no difference to one that never did.
  EXPECT_THAT(setting_labels(tried),
              ElementsAre("num_workers=2", "num_workers=0", "num_workers=6"));
}

TEST(LoaderSweep, JobsOfOneSettingAreItsTrials) {
  const auto job = [](std::int64_t workers, std::int64_t length, const char* name) {
    TriedSetting out = measured_loader_sweep(workers, {length, length + 10});
    out.told = out.given;
    out.given = {};
    out.job = name;
    return out;
  };
  const std::vector<TriedSetting> alike = {job(4, 1000, "17"), job(4, 1300, "18")};
  const Answer same = loader_sweep(alike, {});
  const base::TableLine only(same.tables[1], 0);
  EXPECT_EQ(only.whole("tried"), 1);
  EXPECT_FALSE(only.has("not_told_apart"));
  EXPECT_THAT(outcomes(same), ElementsAre("the only one measured", "the only one measured"));
  // Among others, they say how much trials differ.
  const std::vector<TriedSetting> three = {job(4, 1000, "17"), job(0, 9000, "19"),
                                           job(4, 1020, "18")};
  const Answer answer = loader_sweep(three, {});
  EXPECT_EQ(base::TableLine(answer.tables[1], 0).whole("tried"), 2);
  EXPECT_THAT(outcomes(answer), ElementsAre("best", "best", "slower"));
  EXPECT_EQ(base::TableLine(answer.tables[0], 1).text("job"), "18");
}

TEST(LoaderSweep, JobsWithMoreWorkersThanCpusAreToldOf) {
  std::vector<TriedSetting> jobs = {measured_loader_sweep(2, {1000, 1010}),
                                    measured_loader_sweep(4, {900, 910}),
                                    measured_loader_sweep(6, {800, 810})};
  for (TriedSetting& job : jobs) job.job = "17";
  jobs[1].job_cpus = 2;
  jobs[2].job_cpus = 16;
  EXPECT_THAT(loader_sweep(jobs, {}).remarks,
              ElementsAre(Field(&Remark::text, StartsWith("Job 17 ran 4 workers and a rank of it "
                                                          "had 2 CPUs: more workers than CPUs"))));
  jobs[1].job_cpus = 4;
  EXPECT_THAT(loader_sweep(jobs, {}).remarks, testing::IsEmpty());
}

TEST(LoaderSweep, NobodyIsCertain) {
  const std::vector<TriedSetting> tried = {measured_loader_sweep(2, {1000}),
                                           measured_loader_sweep(4, {900'000})};
  const Answer answer = loader_sweep(tried, {});
  EXPECT_DOUBLE_EQ(base::TableLine(answer.tables[1], 0).number("confidence"), 0.9999);
}

}  // namespace
}  // namespace stepscope::analysis
