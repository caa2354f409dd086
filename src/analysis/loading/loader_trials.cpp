#include "analysis/loading/loader_trials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/compare/student.h"

namespace stepscope::analysis {
namespace {

constexpr double kNs = 1e9;
constexpr double kAlike = 0.05;    // of the time: further apart, the faster one is named
constexpr double kUnsure = 0.025;  // a chance above this is one
constexpr double kConfidenceParts = 10'000;

double loader_trials_length_of(const StepBlock& block) {
  return static_cast<double>(block.loading_ns) + static_cast<double>(block.training_ns);
}

struct TrialSum {
  double steps = 0, samples = 0, loading_ns = 0, training_ns = 0;
};

TrialSum loader_trials_sum_of(std::span<const StepBlock> blocks) {
  TrialSum sum;
  for (const StepBlock& block : blocks) {
    sum.steps += static_cast<double>(block.steps);
    sum.samples += static_cast<double>(block.samples.value_or(0));
    sum.loading_ns += static_cast<double>(block.loading_ns);
    sum.training_ns += static_cast<double>(block.training_ns);
  }
  return sum;
}

// Blocks after the warm-up; all of them where they are few.
std::span<const StepBlock> settled(const LoaderTrial& trial) {
  std::vector<double> lengths;
  lengths.reserve(trial.blocks.size());
  for (const StepBlock& block : trial.blocks) {
    lengths.push_back(loader_trials_length_of(block) / static_cast<double>(block.steps));
  }
  return std::span(trial.blocks).subspan(warmup_steps(lengths));
}

// How long a pass takes to begin: workers that persist are started once, and what a later pass
// takes says it best.
double start_of(const LoaderTrial& trial, bool persistent) {
  if (trial.firsts.empty()) return 0;
  if (trial.firsts.size() == 1) {
    return persistent ? 0 : static_cast<double>(trial.firsts.front().loading_ns);
  }
  const std::span<const StepBlock> later = std::span(trial.firsts).subspan(1);
  return loader_trials_sum_of(later).loading_ns / static_cast<double>(later.size());
}

struct TrialScore {
  TrialSum sum;
  double start_ns = 0;
  double start_per_step = 0;  // beyond an ordinary wait
};

TrialScore trial_score(const LoaderTrial& trial, std::span<const StepBlock> blocks,
                       bool persistent) {
  TrialScore out{.sum = loader_trials_sum_of(blocks), .start_ns = start_of(trial, persistent)};
  const double wait = out.sum.loading_ns / out.sum.steps;
  if (trial.length.value_or(0) > 0) {
    out.start_per_step = std::max(0.0, out.start_ns - wait) / static_cast<double>(*trial.length);
  }
  return out;
}

}  // namespace

LoaderSettings TriedSetting::settings() const {
  LoaderSettings out = given;
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    if (told[setting]) out[setting] = told[setting];
  }
  return out;
}

bool TriedSetting::is_measured() const {
  return std::ranges::any_of(trials, [](const LoaderTrial& one) { return !one.blocks.empty(); });
}

bool counts_samples(std::span<const TriedSetting> tried) {
  for (const TriedSetting& one : tried) {
    for (const LoaderTrial& trial : one.trials) {
      for (const StepBlock& block : trial.blocks) {
        if (block.samples.value_or(0) <= 0) return false;
      }
    }
  }
  return true;
}

std::optional<LoaderScore> score_of(const TriedSetting& tried, bool by_sample) {
  const bool persistent = tried.settings()[LoaderSetting::kPersistentWorkers].value_or(0) != 0;
  LoaderScore out;
  TrialSum all;
  double starts = 0;
  for (const LoaderTrial& trial : tried.trials) {
    if (trial.blocks.empty()) continue;
    const std::span<const StepBlock> blocks = settled(trial);
    const TrialScore score = trial_score(trial, blocks, persistent);
    const double number = by_sample ? score.sum.samples : score.sum.steps;
    const double start = score.start_per_step * score.sum.steps / number;
    std::vector<double> times;
    for (const StepBlock& block : blocks) {
      const std::int64_t parts = by_sample ? block.samples.value_or(1) : block.steps;
      times.push_back(loader_trials_length_of(block) / static_cast<double>(parts) + start);
    }
    out.runs.push_back(estimate(times, Average::kMean));
    out.trains = out.trains || trial.trains;
    all.steps += score.sum.steps;
    all.samples += score.sum.samples;
    all.loading_ns += score.sum.loading_ns + score.start_per_step * score.sum.steps;
    all.training_ns += score.sum.training_ns;
    starts += score.start_ns;
  }
  if (out.runs.empty()) return std::nullopt;
  const auto trials = static_cast<double>(out.runs.size());
  for (const Estimate& run : out.runs) out.per_ns += run.value / trials;
  out.loading_ns = all.loading_ns / all.steps;
  out.training_ns = all.training_ns / all.steps;
  out.start_ns = starts / trials;
  out.steps = static_cast<std::int64_t>(all.steps);
  if (all.samples > 0) {
    out.samples_per_second = kNs * all.samples / (all.loading_ns + all.training_ns);
  }
  return out;
}

TrialSpread trial_spread(std::span<const std::optional<LoaderScore>> scores) {
  TrialSpread out;
  double squares = 0;
  for (const std::optional<LoaderScore>& score : scores) {
    if (!score || score->runs.size() < 2) continue;
    for (const Estimate& run : score->runs) {
      const double apart = run.value / score->per_ns - 1;
      squares += apart * apart;
    }
    out.freedom += static_cast<double>(score->runs.size() - 1);
  }
  if (out.freedom > 0) {
    // Two that happen to agree do not make anybody certain: what is usual counts as two more.
    squares += 2 * kMeanSpread * kMeanSpread;
    out.variance = squares / out.freedom;
  }
  return out;
}

double chance_of_faster(const LoaderScore& one, const LoaderScore& other, double margin,
                        const TrialSpread& spread) {
  // Where nobody tried again, it is assumed what is usual, and how far that is off nobody knows
  // either: it counts as what two trials more would have shown.
  constexpr double kAssumedFreedom = 2;
  constexpr double kUsual = kMeanSpread * kMeanSpread;
  double variance = 0;  // of the ratio's logarithm: times vary by a share of themselves
  double doubt = 0;     // of that variance, as Welch adds it up
  for (const LoaderScore* score : {&one, &other}) {
    const auto trials = static_cast<double>(score->runs.size());
    double within = 0;
    double steps = 0;
    for (const Estimate& run : score->runs) {
      within += run.variance / (score->per_ns * score->per_ns) / trials;
      steps += static_cast<double>(run.steps);
    }
    if (trials < 2 && steps < 2) return 0.5;
    variance += std::max(within + kUsual, spread.variance) / trials;
    if (steps > trials) doubt += within * within / (trials * trials * (steps - trials));
    doubt += kUsual * kUsual / (trials * trials * kAssumedFreedom);
  }
  // Both sides are told by the same trials: together they are known no better than by those.
  const double freedom =
      spread.freedom > 0 ? spread.freedom + kAssumedFreedom : variance * variance / doubt;
  const double ratio = std::log(other.per_ns / ((1 - margin) * one.per_ns));
  return student_tail(ratio / std::sqrt(variance), freedom);
}

std::optional<BestSetting> best_setting(std::span<const TriedSetting> tried) {
  const bool by_sample = counts_samples(tried);
  std::vector<std::optional<LoaderScore>> scores;
  for (const TriedSetting& one : tried) {
    // One that runs into memory or dies in the middle is no choice, however fast it was.
    scores.push_back(one.trouble == TrialTrouble::kNone ? score_of(one, by_sample) : std::nullopt);
  }
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] && (!fastest || scores[i]->per_ns < scores[*fastest]->per_ns)) fastest = i;
  }
  if (!fastest) return std::nullopt;
  const TrialSpread spread = trial_spread(scores);
  BestSetting out{.place = *fastest, .fastest = *fastest};
  const LoaderScore& first = *scores[*fastest];
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i]) continue;
    const bool is_near = scores[i]->per_ns <= first.per_ns * (1 + kAlike);
    const bool may_win = i == *fastest || chance_of_faster(first, *scores[i], 0, spread) > kUnsure;
    const bool is_same = scores[i]->per_ns <= first.per_ns * (1 + kWorthChanging);
    if (is_same || (is_near && may_win)) alike.push_back(i);
  }
  out.place =
      *std::ranges::min_element(alike, {}, [&](std::size_t i) { return tried[i].settings(); });
  double doubt = 0;
  std::vector<std::size_t> may_be_faster;
  // Small chances of many add up: where they do to too much, somebody is named.
  const auto measured =
      std::ranges::count_if(scores, [](const auto& one) { return one != std::nullopt; });
  const double small =
      (1 - kToldApart) / static_cast<double>(std::max<std::ptrdiff_t>(1, measured - 1));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i] || i == out.place) continue;
    const double chance = chance_of_faster(*scores[out.place], *scores[i], kWorthChanging, spread);
    doubt += chance;
    if (chance > small) may_be_faster.push_back(i);
    if (std::ranges::find(alike, i) != alike.end()) {
      out.as_good.push_back(i);
    } else if (!out.next || scores[i]->per_ns < scores[*out.next]->per_ns) {
      out.next = i;
    }
  }
  // Rounded down: nobody is certain, and further digits say nothing.
  constexpr double kMost = 1 - 1 / kConfidenceParts;
  out.confidence =
      std::floor(std::clamp(1 - doubt, 0.0, kMost) * kConfidenceParts) / kConfidenceParts;
  if (out.confidence < kToldApart) out.rivals = std::move(may_be_faster);
  return out;
}

}  // namespace stepscope::analysis
