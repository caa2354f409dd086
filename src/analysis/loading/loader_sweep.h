// The answer of a sweep over loader settings: a row for each, the best, and what to beware of.
// Definitions: docs/cli/sweep.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/loading/loader_trials.h"

namespace stepscope::analysis {

// Where it was done, as far as that is known.
struct SweepScene {
  std::optional<unsigned> cpus = {};             // of the job
  std::optional<base::Bytes> memory_limit = {};  // what a trial may take
  std::optional<base::Bytes> shared_limit = {};  // of /dev/shm, free when it began
  std::size_t not_tried = 0;                     // combinations, for any reason
  std::size_t out_of_time = 0;                   // of them, those that the race did not come to
  bool was_stopped = false;                      // by the user, not by the end of the budget
  bool was_given_up = false;                     // the target fails whatever the setting
  std::vector<std::string> said = {};            // sentences of whoever did it
};

// The settings that are not the same in all of them, as keywords; all where none differ.
std::vector<std::string> setting_labels(std::span<const TriedSetting> tried);

// The descriptor of the answer. It is in no registry: it asks about more than one run.
extern const Analysis kLoaderSweep;

Answer loader_sweep(std::span<const TriedSetting> tried, const SweepScene& scene);

}  // namespace stepscope::analysis
