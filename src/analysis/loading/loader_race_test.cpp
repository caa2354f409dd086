// Races between settings whose times are made up: the best is known, noise is drawn the same way
// every time, and a clock of our own says what it cost.
#include "analysis/loading/loader_race.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

using enum LoaderSetting;

// What a trial takes beside measuring, of each in turn.
using Starts = std::vector<double>;
const Starts kQuickStarts = {2};

struct RaceEnd {
  BestSetting best;
  std::vector<TriedSetting> tried;
  double spent_s = 0;
  std::size_t not_tried = 0, out_of_time = 0;
  bool is_decided = false;

  const TriedSetting& named() const { return tried[best.place]; }
};

// Milliseconds a step takes, by setting.
using StepTime = std::function<double(const LoaderSettings&)>;

struct Noise {
  double step = 0;
  double trial = 0.005;
};

Noise steps_vary(double share) { return {.step = share, .trial = 0.005}; }

LoaderTrial walk(double step_ms, const NextTrial& next, Noise noise, std::mt19937& random) {
  std::normal_distribution<double> step_noise(1, noise.step);
  std::normal_distribution<double> trial_noise(1, noise.trial);
  const double own = step_ms * 1e6 * trial_noise(random);
  LoaderTrial trial{.length = 10'000, .trains = true};
  double spent = 0;
  while (spent < next.seconds * 1e9) {
    const double length = own * 8 * std::max(0.2, step_noise(random));
    trial.blocks.push_back({.steps = 8,
                            .loading_ns = static_cast<base::Nanos>(length / 2),
                            .training_ns = static_cast<base::Nanos>(length / 2),
                            .samples = 64});
    spent += length;
    const bool enough = trial.blocks.size() >= 3;
    if (enough && next.hopeless_ns && own / 8 > *next.hopeless_ns) break;
  }
  return trial;
}

RaceEnd run(const LoaderChoices& choices, const StepTime& step_ms, double budget_s, Noise noise,
            unsigned seed = 1, const Starts& starts = kQuickStarts) {
  std::mt19937 random(seed);
  LoaderRace race(choices);
  RaceEnd out;
  double starts_s = 0;
  std::size_t trials = 0;
  // Nobody knows what starting takes before the first trial; then it is the mean.
  const auto start_s = [&] { return trials > 0 ? starts_s / static_cast<double>(trials) : 0; };
  while (const auto next = race.next(budget_s - out.spent_s, start_s())) {
    const double start = starts[trials % starts.size()];
    if (out.spent_s + start > budget_s) {  // it is ended with the budget, and measured nothing
      out.spent_s = budget_s;
      race.take({});
      break;
    }
    LoaderTrial trial = walk(step_ms(race.last().given), *next, noise, random);
    for (const StepBlock& block : trial.blocks) {
      out.spent_s += static_cast<double>(block.loading_ns + block.training_ns) / 1e9;
    }
    out.spent_s += start;
    starts_s += start;
    ++trials;
    race.take(std::move(trial));
  }
  out.tried = race.tried();
  out.not_tried = race.not_tried();
  out.out_of_time = race.out_of_time();
  out.is_decided = race.is_decided();
  if (const auto best = best_setting(out.tried)) out.best = *best;
  return out;
}

LoaderChoices workers(std::vector<std::int64_t> values) {
  LoaderChoices out;
  out[kNumWorkers] = std::move(values);
  return out;
}

double by_workers(const LoaderSettings& settings) {
  return 10 + 80.0 / static_cast<double>(1 + settings.workers());
}

TEST(LoaderRace, FindsTheFastestAndGivesLosersOneTrial) {
  const RaceEnd end = run(workers({0, 1, 2, 4, 8}), by_workers, 120, steps_vary(0.1));
  EXPECT_EQ(end.named().given.workers(), 8);
  EXPECT_TRUE(end.best.rivals.empty());
  EXPECT_GT(end.best.confidence, 0.95);
  EXPECT_TRUE(end.is_decided);
  EXPECT_EQ(end.tried[0].trials.size(), 1u);
  EXPECT_GE(end.named().trials.size(), 2u);
  EXPECT_LT(end.spent_s, 120);
}

TEST(LoaderRace, OfSettingsAsFastTheOneWithFewestWorkersIsNamed) {
  const auto enough_at_4 = [](const LoaderSettings& settings) {
    return settings.workers() >= 4 ? 12.0 : 40.0;
  };
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const RaceEnd end = run(workers({0, 2, 4, 8, 16}), enough_at_4, 120, steps_vary(0.05), seed);
    EXPECT_EQ(end.named().given.workers(), 4) << seed;
    EXPECT_EQ(end.best.as_good.size(), 2u) << seed;
  }
}

TEST(LoaderRace, ThroughNoiseItIsRightOrUnsure) {
  // Twelve percent between them, blocks of steps that vary by a fifth.
  const auto close = [](const LoaderSettings& settings) {
    return settings.workers() == 2 ? 20.0 : 22.4;
  };
  int right = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const RaceEnd end = run(workers({0, 1, 2, 3}), close, 180, steps_vary(0.2), seed);
    const bool is_right = end.named().given.workers() == 2;
    right += is_right ? 1 : 0;
    EXPECT_TRUE(is_right || end.best.confidence < 0.8)
        << seed << " names " << end.named().given.workers() << ", " << end.best.confidence;
  }
  EXPECT_GE(right, 5);  // more often than not
}

TEST(LoaderRace, OnABusyMachineAtMostOneInTwentyIsSureAndWrong) {
  // Trials of one setting differ by more than the settings do.
  const auto close = [](const LoaderSettings& settings) {
    return settings.workers() == 2 ? 20.0 : 21.6;
  };
  constexpr int kRaces = 100;
  int wrong_and_sure = 0;
  int unsure = 0;
  for (unsigned seed = 1; seed <= kRaces; ++seed) {
    const RaceEnd end = run(workers({0, 1, 2, 3}), close, 60, {.step = 0.3, .trial = 0.2}, seed);
    const bool is_unsure = !end.best.rivals.empty();
    EXPECT_EQ(is_unsure, end.best.confidence < kToldApart);
    unsure += is_unsure ? 1 : 0;
    wrong_and_sure += !is_unsure && end.named().given.workers() != 2 ? 1 : 0;
  }
  EXPECT_LE(wrong_and_sure, kRaces / 20);
  EXPECT_GE(unsure, kRaces / 2);
}

TEST(LoaderRace, OnAQuietMachineItIsSureInTime) {
  // Steps vary, trials do not: a fifth is found, though each block of steps varies by more.
  const auto apart = [](const LoaderSettings& settings) {
    return settings.workers() == 2 ? 20.0 : 24.0;
  };
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const RaceEnd end = run(workers({0, 1, 2, 3}), apart, 180, steps_vary(0.3), seed);
    EXPECT_TRUE(end.best.rivals.empty()) << seed << ": " << end.best.confidence;
    EXPECT_EQ(end.named().given.workers(), 2) << seed;
  }
}

TEST(LoaderRace, EndsWithinItsBudget) {
  for (const double budget : {0.5, 3.0, 7.0, 20.0, 60.0}) {
    const RaceEnd end =
        run(workers({0, 1, 2, 3, 4, 5, 6, 7, 8}), by_workers, budget, steps_vary(0.3));
    // The last block may end behind it: a step is not cut.
    EXPECT_LE(end.spent_s, budget + 1) << budget;
    EXPECT_EQ(end.not_tried > 0, budget < 20.5) << budget;
  }
}

TEST(LoaderRace, WhereStartingIsSlowEachHasATrialBeforeAnyHasAnother) {
  const auto enough_at_6 = [](const LoaderSettings& settings) {
    return settings.workers() == 6 ? 20.0 : settings.workers() == 2 ? 44.0 : 100.0;
  };
  // Three starts and hardly more, the last of them quicker than the others.
  for (const double budget : {95.0, 100.0, 119.0}) {
    const RaceEnd end =
        run(workers({0, 2, 6}), enough_at_6, budget, steps_vary(0.1), 1, {30, 31, 24});
    EXPECT_EQ(end.out_of_time, 0u) << budget;
    EXPECT_EQ(end.named().given.workers(), 6) << budget;
    for (const TriedSetting& one : end.tried) EXPECT_EQ(one.trials.size(), 1u) << budget;
  }
}

TEST(LoaderRace, TwelveSettingsHaveATrialEachBeforeAnyHasAnother) {
  LoaderChoices choices = workers({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  for (const double budget : {60.0, 130.0, 200.0}) {
    const RaceEnd end = run(choices, by_workers, budget, steps_vary(0.1), 1, {10});
    std::size_t fewest = 100;
    std::size_t most = 0;
    for (const TriedSetting& one : end.tried) {
      fewest = std::min(fewest, one.trials.size());
      most = std::max(most, one.trials.size());
    }
    ASSERT_EQ(end.tried.size(), 12u);
    EXPECT_TRUE(fewest > 0 || most == 1) << budget;
    EXPECT_EQ(end.out_of_time > 0, fewest == 0) << budget;
    EXPECT_EQ(fewest == 0, budget < 120) << budget;
    EXPECT_GT(end.spent_s, budget - 11) << budget;  // no time for another
  }
}

TEST(LoaderRace, StagesThatItDidNotComeToAreOutOfTime) {
  LoaderChoices choices = workers({1, 2, 4, 8});
  choices[kPrefetchFactor] = {2, 4, 8};
  choices[kPinMemory] = {0, 1};
  const RaceEnd end = run(choices, by_workers, 14, steps_vary(0.1));
  EXPECT_FALSE(end.is_decided);
  EXPECT_EQ(end.out_of_time, 3u);  // one more way to pin, two more to prefetch
  EXPECT_EQ(run(choices, by_workers, 600, steps_vary(0.1)).out_of_time, 0u);
}

TEST(LoaderRace, ManyCombinationsAreVariedOneAfterTheOther) {
  LoaderChoices choices = workers({0, 2, 4, 8});
  choices[kPrefetchFactor] = {2, 4, 8};
  choices[kPinMemory] = {0, 1};
  choices[kNonBlocking] = {0, 1};
  choices[kPersistentWorkers] = {0, 1};
  EXPECT_EQ(combinations(choices).size(), 4u + 3u * 3u * 8u);
  // Non-blocking copies help from pinned memory alone.
  const auto step_ms = [](const LoaderSettings& settings) {
    const bool pinned = settings[kPinMemory] == 1;
    return by_workers(settings) + (pinned ? 0 : 4) -
           (pinned && settings[kNonBlocking] == 1 ? 3 : 0) -
           (settings[kPrefetchFactor] == 4 ? 2 : 0);
  };
  const RaceEnd end = run(choices, step_ms, 300, steps_vary(0.1));
  EXPECT_EQ(keywords_text(end.named().given),
            "num_workers=8, pin_memory=True, non_blocking=True, prefetch_factor=4, "
            "persistent_workers=False");
  EXPECT_LE(end.tried.size(), 12u);
  EXPECT_GT(end.not_tried, 60u);
  EXPECT_LT(end.spent_s, 300);
}

TEST(LoaderRace, WithoutWorkersNothingIsPrefetched) {
  LoaderChoices choices = workers({0, 2});
  choices[kPrefetchFactor] = {2, 4};
  const auto all = combinations(choices);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(keywords_text(all[0]), "num_workers=0");
  EXPECT_EQ(keywords_text(all[2]), "num_workers=2, prefetch_factor=4");
}

TEST(LoaderRace, WhatAsksForMoreMemoryThanOneThatHadNoneIsNotTried) {
  LoaderRace race(workers({1, 4, 2, 8}));
  ASSERT_TRUE(race.next(100, 1));
  race.take(LoaderTrial{.blocks = {{8, 100, 100, 8}, {8, 100, 100, 8}, {8, 100, 100, 8}}});
  ASSERT_TRUE(race.next(100, 1));
  EXPECT_EQ(race.last().given.workers(), 4);
  race.take_trouble(TrialTrouble::kMemory, "stopped at 8 GiB");
  ASSERT_TRUE(race.next(100, 1));
  EXPECT_EQ(race.last().given.workers(), 2);
  EXPECT_EQ(race.tried()[3].trouble, TrialTrouble::kSkipped);
  EXPECT_EQ(race.tried()[3].why, "not tried: num_workers=4 was out of memory already");
}

TEST(LoaderRace, OneSettingIsMeasuredAndThatIsAll) {
  const RaceEnd end = run(workers({2}), by_workers, 60, steps_vary(0.1));
  EXPECT_TRUE(end.is_decided);
  ASSERT_EQ(end.tried.size(), 1u);
  EXPECT_EQ(end.tried[0].trials.size(), 1u);
}

TriedSetting measured_loader_race(std::vector<LoaderTrial> trials, std::int64_t persistent = 0) {
  TriedSetting out{.trials = std::move(trials)};
  out.told[kNumWorkers] = 2;
  out.told[kPersistentWorkers] = persistent;
  return out;
}

TEST(LoaderScore, SharesOutTheBeginningOfAPass) {
  const LoaderTrial trial{
      .blocks = {{2, 20, 80, 16}, {2, 20, 80, 16}}, .firsts = {{1, 1010, 40, 8}}, .length = 100};
  const auto score = score_of(measured_loader_race({trial}), false);
  ASSERT_TRUE(score);
  EXPECT_DOUBLE_EQ(score->loading_ns, 20);  // 10, and 1000 shared by 100 steps
  EXPECT_DOUBLE_EQ(score->training_ns, 40);
  EXPECT_DOUBLE_EQ(score->per_ns, 60);
  // Workers that stay are started once; only a later pass tells what theirs takes.
  EXPECT_DOUBLE_EQ(score_of(measured_loader_race({trial}, 1), false)->loading_ns, 10);
  LoaderTrial again = trial;
  again.firsts.push_back({1, 110, 40, 8});
  EXPECT_DOUBLE_EQ(score_of(measured_loader_race({again}, 1), false)->loading_ns, 11);
}

TEST(LoaderScore, IsPerSampleWhereSamplesAreKnown) {
  const TriedSetting small = measured_loader_race({{.blocks = {{2, 0, 100, 16}, {2, 0, 100, 16}}}});
  const TriedSetting large = measured_loader_race({{.blocks = {{2, 0, 160, 32}, {2, 0, 160, 32}}}});
  const std::vector<TriedSetting> both = {small, large};
  EXPECT_TRUE(counts_samples(both));
  EXPECT_EQ(best_setting(both)->fastest, 1u);
  const std::vector<TriedSetting> unknown = {small,
                                             measured_loader_race({{.blocks = {{2, 0, 160, {}}}}})};
  EXPECT_FALSE(counts_samples(unknown));
  EXPECT_EQ(best_setting(unknown)->fastest, 0u);
}

TEST(LoaderScore, TrialsThatDifferMakeThoseTriedOnceUnsure) {
  const auto trial = [](base::Nanos mean) {
    LoaderTrial out;
    for (int i = 0; i < 12; ++i) {
      out.blocks.push_back(
          {.steps = 1, .loading_ns = mean + i % 3, .training_ns = 0, .samples = 8});
    }
    return out;
  };
  std::vector<TriedSetting> tried = {measured_loader_race({trial(100'000)}),
                                     measured_loader_race({trial(110'000)})};
  const auto on_a_quiet_machine = best_setting(tried);
  ASSERT_TRUE(on_a_quiet_machine);
  EXPECT_EQ(on_a_quiet_machine->place, 0u);
  EXPECT_TRUE(on_a_quiet_machine->rivals.empty());
  // A third, tried twice, shows that here trials differ by a third though nothing was changed.
  tried.push_back(measured_loader_race({trial(300'000), trial(450'000)}));
  const auto on_a_busy_one = best_setting(tried);
  ASSERT_TRUE(on_a_busy_one);
  EXPECT_LT(on_a_busy_one->confidence, kToldApart);
  EXPECT_EQ(on_a_busy_one->rivals, std::vector<std::size_t>{1});
}

TEST(LoaderScore, ChancesOfTwoSettingsAddUpToOne) {
  const auto noisy = [](double mean) {
    LoaderTrial trial;
    for (int i = 0; i < 12; ++i) {
      const double step = mean * (1 + 0.1 * ((i % 3) - 1));
      trial.blocks.push_back({.steps = 1, .loading_ns = static_cast<base::Nanos>(step)});
    }
    return *score_of(measured_loader_race({trial}), false);
  };
  const LoaderScore one = noisy(1000);
  const LoaderScore other = noisy(1020);
  EXPECT_NEAR(chance_of_faster(one, other, 0) + chance_of_faster(other, one, 0), 1, 0.02);
  EXPECT_GT(chance_of_faster(one, other, 0), 0.1);
  EXPECT_LT(chance_of_faster(one, noisy(2000), 0), 1e-4);
  EXPECT_GT(chance_of_faster(noisy(2000), one, 0), 1 - 1e-4);
}

// The target does not pass pin_memory on.
TEST(LoaderRace, SettingsOfOneLoaderAreOneAsSoonAsTheyAreSeen) {
  LoaderChoices choices;
  choices[kPinMemory] = {1, 0};
  LoaderRace race(choices);
  std::mt19937 random(1);
  double left = 60;
  std::size_t trials = 0;
  while (const auto next = race.next(left, 1)) {
    LoaderTrial trial = walk(1, *next, steps_vary(0.3), random);
    race.last().told[kPinMemory] = 0;
    race.take(std::move(trial));
    left -= 4;
    ++trials;
  }
  EXPECT_EQ(trials, 2u);
  EXPECT_TRUE(race.is_decided());
  EXPECT_EQ(race.tried()[0].trials.size(), 2u);
  EXPECT_EQ(race.tried()[1].trouble, TrialTrouble::kSame);
  EXPECT_EQ(race.tried()[1].why, "the same loader as with pin_memory=True");
  EXPECT_EQ(race.not_tried(), 0u);
}

}  // namespace
}  // namespace stepscope::analysis
