// Cuts the phases of a rank into iterations, from step marks or from waits for batches.
#include "analysis/loading/iterations.h"

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/arithmetic/durations.h"
#include "analysis/arithmetic/warm_up.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

std::optional<std::int64_t> iterations_samples_of(const RankLoading& loading,
                                                  const BatchWait& wait) {
  const MadeBatch* const made = loading.made_for(wait);
  return made != nullptr && made->samples ? made->samples : wait.samples;
}

// The waits of the training, by `time`.
std::vector<const BatchWait*> training_waits(const RankLoading* loading, Nanos BatchWait::* time) {
  std::vector<const BatchWait*> waits;
  if (loading == nullptr) return waits;
  for (const BatchWait& wait : loading->waits) {
    if (wait.phase == kTraining) waits.push_back(&wait);
  }
  std::ranges::stable_sort(waits, {}, time);
  return waits;
}

// Those whose `time` lies within the step.
std::span<const BatchWait* const> within(const std::vector<const BatchWait*>& waits,
                                         Nanos BatchWait::* time, const RecordedStep& step) {
  const auto first = std::ranges::upper_bound(waits, step.start, {}, time);
  const auto last = std::ranges::upper_bound(first, waits.end(), step.end(), {}, time);
  return {first, last};
}

using Waits = std::span<const BatchWait* const>;

// The batches of each step, where a thread reads ahead of the loop: not those that came during it.
// Queues keep their order, so the steps used them one after the other, as many each. Nothing where
// that does not come out even, or a step would have used one before it came.
std::vector<Waits> used_in_turn(Waits ahead, const std::vector<RecordedStep>& steps) {
  constexpr std::size_t kMostLeft = 64;  // in the queue, of a loop that stopped early
  if (steps.empty()) return {};
  const std::size_t each = ahead.size() / steps.size();
  const std::size_t left = ahead.size() - each * steps.size();
  if (each == 0 || left > std::min(kMostLeft, steps.size() / 4)) return {};
  std::vector<Waits> out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out.push_back(ahead.subspan(i * each, each));
    if (out.back().back()->end > steps[i].end()) return {};
    if (out.back().back()->loader != ahead.front()->loader) return {};
  }
  return out;
}

// A step may take several batches; its samples are known if those of all are.
void take_batches(Iteration& one, const RankLoading& loading, Waits waits) {
  std::int64_t samples = 0;
  std::int64_t batches = 0;
  bool known = true;
  for (const BatchWait* wait : waits) {
    if (!wait->gave()) continue;
    ++batches;
    const auto count = iterations_samples_of(loading, *wait);
    known &= count.has_value();
    samples += count.value_or(0);
  }
  one.batches = batches;
  if (known && batches > 0) one.samples = samples;
}

std::vector<Iteration> of_steps(const RankLoading* loading,
                                const std::vector<RecordedStep>& steps) {
  auto by_end = training_waits(loading, &BatchWait::end);
  auto ahead = by_end;
  std::erase_if(by_end, [](const BatchWait* wait) { return wait->beside; });
  std::erase_if(ahead, [](const BatchWait* wait) { return !wait->beside || !wait->gave(); });
  auto by_use = training_waits(loading, &BatchWait::used);
  std::erase_if(by_use, [](const BatchWait* wait) { return wait->beside; });
  // Where what the loop iterates over is watched, too, that is what it used.
  const std::vector<Waits> in_turn =
      by_use.empty() ? used_in_turn(ahead, steps) : std::vector<Waits>();
  std::vector<Iteration> out;
  for (const RecordedStep& step : steps) {
    Iteration& one = out.emplace_back(
        Iteration{.start = step.start, .length = step.length, .traced = step.traced});
    Nanos waited = 0;
    for (const BatchWait* wait : within(by_end, &BatchWait::end, step)) {
      waited += std::min(wait->length(), wait->end - step.start);
    }
    if (!by_end.empty()) one.wait_ns = waited;
    if (!by_use.empty()) take_batches(one, *loading, within(by_use, &BatchWait::used, step));
    if (!in_turn.empty()) take_batches(one, *loading, in_turn[out.size() - 1]);
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
                                  .length = wait.whole(),
                                  .wait_ns = wait.length(),
                                  .samples = iterations_samples_of(*loading, wait),
                                  .batches = 1});
  }
  return phases;
}

namespace {

constexpr std::size_t kFew = 4;  // iterations; of fewer nothing is said of the first

// The first of a recording is often none: workers start in it, or the loop was found in its middle.
// Known from nearly all of the others, since lengths may alternate for good.
bool is_first_odd(std::span<const base::Nanos> lengths) {
  if (lengths.size() < kFew) return false;
  Durations others;
  for (const base::Nanos length : lengths.subspan(1)) others.add(length);
  return lengths.front() / 3 > others.percentile(0.9) ||
         lengths.front() < others.percentile(0.1) / 4;
}

}  // namespace

std::size_t warm_up(std::span<const base::Nanos> lengths) {
  constexpr WarmUpRule kRule{.fewest = 8, .least_share = 0.25};
  const std::vector<double> values(lengths.begin(), lengths.end());
  return std::max<std::size_t>(warm_up_of(values, kRule), is_first_odd(lengths) ? 1 : 0);
}

std::size_t warm_up(std::span<const base::Nanos> lengths, const std::vector<bool>& traced) {
  std::vector<base::Nanos> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (traced[i]) continue;
    others.push_back(lengths[i]);
    places.push_back(i);
  }
  if (others.empty()) return warm_up(lengths);
  const std::size_t early = warm_up(others);
  return early == 0 ? 0 : places[early - 1] + 1;
}

}  // namespace stepscope::analysis
