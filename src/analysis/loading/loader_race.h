// Which setting of a loader to try next, and for how long: short trials for all, longer ones for
// those that may still win. It has no clock and starts nothing; whoever does tells it how each
// trial went. Why this order: docs/design/0021-tuning-the-loader.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/loading/loader_trials.h"

namespace stepscope::analysis {

// The values to try of each setting, in the order given; none: it is left to the target.
struct LoaderChoices {
  std::array<std::vector<std::int64_t>, kLoaderSettings> values = {};

  std::vector<std::int64_t>& operator[](LoaderSetting setting) {
    return values[static_cast<std::size_t>(setting)];
  }
  const std::vector<std::int64_t>& operator[](LoaderSetting setting) const {
    return values[static_cast<std::size_t>(setting)];
  }
};

// Combinations of all values that mean something: a loader without workers neither prefetches nor
// keeps them.
std::vector<LoaderSettings> combinations(const LoaderChoices& choices);

struct NextTrial {
  std::size_t place = 0;                   // in tried()
  double seconds = 0;                      // to measure for, behind the first batch
  std::optional<double> hopeless_ns = {};  // per sample or step: it has lost
  bool by_sample = true;
};

class LoaderRace {
 public:
  explicit LoaderRace(LoaderChoices choices);

  // Nothing: it is decided, or there is no time for another trial. `start_s` is what a trial takes
  // beside measuring; 0: not known yet. A first trial may be asked for where the time will hardly
  // do: whoever runs it ends it in time.
  std::optional<NextTrial> next(double left_s, double start_s);
  // The trial that was asked for last ended. What it measured counts, also if it had trouble.
  void take(LoaderTrial trial);
  void take_trouble(TrialTrouble trouble, std::string why);

  TriedSetting& last() { return tried_[last_]; }  // that was asked for last
  // All settings of the race so far, in the order of their first turn.
  const std::vector<TriedSetting>& tried() const { return tried_; }
  std::size_t not_tried() const;    // combinations that nothing is known of
  std::size_t out_of_time() const;  // of them, those that would have had a trial
  bool is_decided() const { return is_decided_; }

 private:
  bool next_round();
  bool next_stage();
  std::vector<std::size_t> contenders() const;
  bool is_steady(const std::vector<std::size_t>& members) const;
  std::size_t place_of(const LoaderSettings& settings);
  void merge_same();
  void skip_more_demanding(const LoaderSettings& than);

  LoaderChoices choices_;
  std::vector<TriedSetting> tried_;
  std::vector<std::size_t> stage_;                       // members of this stage
  std::vector<std::size_t> queue_;                       // of this round, the next one last
  std::vector<std::vector<LoaderSetting>> stages_left_;  // what they vary, the next one last
  std::size_t round_ = 0, last_ = 0;
  double seconds_ = 0;  // of a trial of this round
  bool is_decided_ = false;
};

}  // namespace stepscope::analysis
