#include "analysis/loading/iterations.h"

#include <algorithm>

namespace stepscope::analysis {
namespace {

using base::Nanos;

std::optional<std::int64_t> samples_of(const RankLoading& loading, const BatchWait& wait) {
  const MadeBatch* const made = loading.made_for(wait);
  return made != nullptr && made->samples ? made->samples : wait.samples;
}

// A step may take several batches; its samples are known if those of all are.
std::vector<Iteration> of_steps(const RankLoading* loading,
                                const std::vector<RecordedStep>& steps) {
  std::vector<const BatchWait*> waits;  // by end
  if (loading != nullptr) {
    for (const BatchWait& wait : loading->waits) {
      if (wait.phase == kTraining) waits.push_back(&wait);
    }
    std::ranges::stable_sort(waits, {}, &BatchWait::end);
  }
  std::vector<Iteration> out;
  for (const RecordedStep& step : steps) {
    Iteration& one = out.emplace_back(
        Iteration{.start = step.start, .length = step.length, .traced = step.traced});
    Nanos waited = 0;
    std::int64_t samples = 0;
    std::size_t batches = 0;
    bool known = true;
    auto wait = std::ranges::upper_bound(waits, step.start, {}, &BatchWait::end);
    for (; wait != waits.end() && (*wait)->end <= step.start + step.length; ++wait) {
      waited += std::min((*wait)->length(), (*wait)->end - step.start);
      if (!(*wait)->gave()) continue;
      ++batches;
      const auto count = samples_of(*loading, **wait);
      known &= count.has_value();
      samples += count.value_or(0);
    }
    if (!waits.empty()) one.wait_ns = waited;
    if (known && batches > 0) one.samples = samples;
  }
  return out;
}

}  // namespace

std::map<std::string, std::vector<Iteration>> iterations_of(
    const RankLoading* loading, const std::vector<RecordedStep>& steps) {
  std::map<std::string, std::vector<Iteration>> phases;
  if (!steps.empty()) phases[std::string(kTraining)] = of_steps(loading, steps);
  if (loading == nullptr) return phases;
  for (const BatchWait& wait : loading->waits) {
    if (!wait.gave() || !wait.counts || wait.until <= wait.start) continue;
    if (wait.phase == kTraining && !steps.empty()) continue;
    phases[wait.phase].push_back({.start = wait.start,
                                  .length = wait.until - wait.start,
                                  .wait_ns = wait.length(),
                                  .samples = samples_of(*loading, wait)});
  }
  return phases;
}

}  // namespace stepscope::analysis
