// Steps of a recorded run as blocks of a loader's trial.
#include "analysis/loading/loader_trial.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/loading/iterations.h"
#include "analysis/loading/loader_records.h"
#include "analysis/loading/loop_work.h"
#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// The name of the loader with most batches of training; empty: none.
std::string training_loader(const RankLoading& loading) {
  std::map<std::string, std::size_t> batches;
  for (const BatchWait& wait : loading.waits) {
    if (wait.phase == kTraining && wait.gave()) ++batches[wait.loader];
  }
  const auto most =
      std::ranges::max_element(batches, {}, [](const auto& pair) { return pair.second; });
  return most == batches.end() ? std::string() : most->first;
}

bool is_traced(const std::vector<RecordedStep>& steps, Nanos time) {
  const auto after = std::ranges::upper_bound(steps, time, {}, &RecordedStep::start);
  if (after == steps.begin()) return false;
  const RecordedStep& step = *(after - 1);
  return step.traced && time < step.end();
}

StepBlock block_of(const BatchWait& wait, const MadeBatch* made,
                   const std::vector<RecordedStep>& steps) {
  const auto samples = made != nullptr && made->samples ? made->samples : wait.samples;
  return {.steps = 1,
          .loading_ns = wait.length(),
          .training_ns = loop_work(steps, wait).ns,
          .samples = samples};
}

void add_step(StepBlock& to, const StepBlock& one) {
  if (to.steps == 0) to.samples = 0;
  to.steps += one.steps;
  to.loading_ns += one.loading_ns;
  to.training_ns += one.training_ns;
  if (to.samples && one.samples) {
    *to.samples += *one.samples;
  } else {
    to.samples.reset();
  }
}

LoaderTrial trial_of(const RankLoading& loading, const std::string& loader,
                     const std::vector<RecordedStep>& steps, std::int64_t workers) {
  LoaderTrial out;
  StepBlock block;
  constexpr std::int64_t kNoPass = -1;
  std::int64_t pass = kNoPass;
  std::int64_t given = 0;  // of the pass
  for (const BatchWait& wait : loading.waits) {
    if (wait.loader != loader || wait.phase != kTraining) continue;
    // A pass that was left begins again from 0; so does the count of each worker within a pass.
    const bool was_left = wait.number == 0 && given > workers;
    const bool is_first = pass == kNoPass || wait.iteration != pass || was_left;
    if (!wait.gave()) {
      out.length = std::max(out.length.value_or(0), given);
      pass = kNoPass;
      continue;
    }
    const StepBlock one = block_of(wait, loading.made_for(wait), steps);
    if (is_first) {
      pass = wait.iteration;
      given = 0;
      out.firsts.push_back(one);
    } else if (!is_traced(steps, wait.end)) {
      add_step(block, one);
      if (block.steps >= std::max<std::int64_t>(1, workers)) {
        out.blocks.push_back(block);
        block = {};
      }
    }
    ++given;
  }
  return out;
}

double mean_wait(const LoaderTrial& trial) {
  double wait = 0;
  double steps = 0;
  for (const StepBlock& block : trial.blocks) {
    wait += static_cast<double>(block.loading_ns);
    steps += static_cast<double>(block.steps);
  }
  return steps > 0 ? wait / steps : -1;
}

}  // namespace

LoaderTrial loader_trial(const RunView& view) {
  LoaderTrial out;
  const auto steps = recorded_steps(view);
  double longest = -1;
  for (const auto& [rank, loading] : loading_by_rank(view)) {
    const std::string loader = training_loader(loading);
    if (loader.empty()) continue;
    const auto settings = loading.settings.find(loader);
    const LoaderSettings recorded =
        settings == loading.settings.end() ? LoaderSettings() : settings->second;
    const auto own_steps = steps.find(rank);
    LoaderTrial trial = trial_of(
        loading, loader, own_steps == steps.end() ? std::vector<RecordedStep>() : own_steps->second,
        recorded.workers());
    const double wait = mean_wait(trial);
    if (wait < longest || trial.blocks.empty()) continue;
    longest = wait;
    out = std::move(trial);
    out.settings = recorded;
  }
  return out;
}

}  // namespace stepscope::analysis
