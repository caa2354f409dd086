// What trials of loader settings measured, and what that says: how long a step takes with each, how
// well that is known, and how likely another setting is the faster one. Pure functions of numbers.
// Definitions: docs/cli/sweep.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/change.h"
#include "analysis/loading/loader_settings.h"
#include "base/units.h"

namespace stepscope::analysis {

// Steps that follow each other, as many as there are workers: batches come in bursts.
struct StepBlock {
  std::int64_t steps = 0;
  base::Nanos loading_ns = 0, training_ns = 0;
  std::optional<std::int64_t> samples = {};  // nothing: not known
};

// One process that walked over one loader.
struct LoaderTrial {
  std::vector<StepBlock> blocks = {};
  std::vector<StepBlock> firsts = {};       // the first step of each pass
  std::optional<std::int64_t> length = {};  // batches of a pass
  std::optional<std::int64_t> storage_bytes = {};
  bool trains = false;  // there was something to do with the batches
};

enum class TrialTrouble : std::uint8_t {
  kNone,
  kFailed,   // raised, crashed, hung
  kMemory,   // stopped before it took all
  kSkipped,  // a less demanding setting had no memory, or there was no time
  kSame,     // its loader is that of another setting, which has its trials
};

struct TriedSetting {
  LoaderSettings given = {};  // what the target was asked for
  LoaderSettings told = {};   // what the loader says it has
  std::vector<LoaderTrial> trials = {};
  TrialTrouble trouble = TrialTrouble::kNone;
  std::string why = {};  // of the trouble: a sentence
  std::optional<base::Bytes> peak_bytes = {}, shared_bytes = {};
  std::string job = {};
  std::optional<double> job_cpus = {};  // of a rank of that job, which may differ from job to job

  LoaderSettings settings() const;  // told, and given where it does not tell
  bool is_measured() const;
};

// Whether settings are compared by the sample: those of every measured block are known.
bool counts_samples(std::span<const TriedSetting> tried);

// What one setting is like.
struct LoaderScore {
  std::vector<Estimate> runs;              // of each trial: time per sample or per step
  double per_ns = 0;                       // their mean
  double loading_ns = 0, training_ns = 0;  // per step
  double start_ns = 0;                     // of a pass: until its first batch came
  std::int64_t steps = 0;
  std::optional<double> samples_per_second = {};
  bool trains = false;
};
// Nothing where nothing was measured.
std::optional<LoaderScore> score_of(const TriedSetting& tried, bool by_sample);

// By how much trials of one setting differ though nothing was changed: what settings that were
// tried again show, all of them together.
struct TrialSpread {
  double variance = 0;  // of the square of the time
  double freedom = 0;   // trials beyond the first of each setting; 0: nothing is known
};
TrialSpread trial_spread(std::span<const std::optional<LoaderScore>> scores);

// How likely `other` takes less than (1 − margin) of the time of `one`: 0.5 where nobody knows.
double chance_of_faster(const LoaderScore& one, const LoaderScore& other, double margin,
                        const TrialSpread& spread = {});

// What is less than this is no difference to anybody.
inline constexpr double kWorthChanging = 0.02;
// With less confidence than this no setting is called the best.
inline constexpr double kToldApart = 0.95;

struct BestSetting {
  std::size_t place = 0;                  // in what was tried
  std::size_t fastest = 0;                // another one, if that is as good and asks for more
  double confidence = 0;                  // that no other is faster by kWorthChanging
  std::vector<std::size_t> as_good = {};  // cannot be told apart; without the best
  std::optional<std::size_t> next = {};   // the fastest of the others that are not as good
  // Others that may as well be faster by kWorthChanging; nothing where the best is sure enough.
  std::vector<std::size_t> rivals = {};
};
// Nothing where nothing was measured.
std::optional<BestSetting> best_setting(std::span<const TriedSetting> tried);

}  // namespace stepscope::analysis
