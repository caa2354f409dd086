// Adds up the waits and batches of each loader and each worker.
#include "analysis/loading/loader_sums.h"

#include <algorithm>
#include <cmath>

#include "analysis/loading/loop_work.h"

namespace stepscope::analysis {

using base::Nanos;

void MadeSums::add(const MadeBatch& one) {
  lengths.add(one.length());
  fetch_ns += one.fetch_ns();
  transform_ns.add(one.transform_ns);
  collate_ns.add(one.collate_ns);
  cpu_ns.add(one.cpu_ns);
  starved_ns.add(one.starved_ns);
  read_bytes.add(one.read_bytes);
  storage_bytes.add(one.storage_bytes);
  files.add(one.files);
  samples.add(one.samples);
  batch_bytes.add(one.batch_bytes);
}

std::optional<double> MadeSums::share_of(const std::optional<std::int64_t>& part) const {
  if (!part || lengths.sum() == 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(lengths.sum());
}

Nanos WorkerSums::alive_ns() const {
  Nanos sum = 0;
  for (const auto& [pid, passes] : processes) {
    for (const auto& [pass, alive] : passes) sum += alive.last - alive.first;
  }
  return sum;
}

double LoopTime::wait_share() const {
  return whole <= 0 ? 0 : static_cast<double>(wait_ns) / static_cast<double>(whole);
}

double LoopTime::later_wait_share() const {
  const Nanos later = whole - first_wait_ns;
  if (later <= 0) return 0;
  return static_cast<double>(wait_ns - first_wait_ns) / static_cast<double>(later);
}

std::optional<LateCause> LoaderSums::cause() const {
  const auto most =
      std::ranges::max_element(causes, {}, [](const auto& one) { return one.second; });
  if (most == causes.end() || most->first == LateCause::kUnknown) return std::nullopt;
  return most->first;
}

std::optional<std::int64_t> LoaderSums::late_worker() const {
  const auto worst = [&](Nanos WorkerSums::* late) {
    std::optional<std::int64_t> found;
    Nanos most = 0;
    for (const auto& [number, worker] : workers) {
      if (worker.*late <= most) continue;
      most = worker.*late;
      found = number;
    }
    return found;
  };
  const auto later = worst(&WorkerSums::later_late_ns);
  return later ? later : worst(&WorkerSums::late_ns);
}

std::optional<double> LoaderSums::capacity() const {
  constexpr double kSecond = 1e9;
  if (workers.empty()) {
    if (made.lengths.sum() == 0) return std::nullopt;
    return kSecond * static_cast<double>(made.lengths.count()) /
           static_cast<double>(made.lengths.sum());
  }
  double sum = 0;
  for (const auto& [number, worker] : workers) {
    const Durations& lengths = worker.made.lengths;
    if (lengths.sum() > 0) {
      sum += kSecond * static_cast<double>(lengths.count()) / static_cast<double>(lengths.sum());
    }
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::optional<double> LoaderSums::make_ns() const {
  const Durations& lengths = later_made.count() > 0 ? later_made : made.lengths;
  return lengths.count() > 0 ? std::optional(lengths.mean()) : std::nullopt;
}

std::optional<std::int64_t> LoaderSums::workers_needed() const {
  constexpr double kHeadroom = 1.1;  // a worker that is always busy does not keep up
  constexpr double kMost = 1e6;
  const auto each = make_ns();
  if (!each || between.count() == 0 || between.sum() <= 0) return std::nullopt;
  const double ready = 1 - std::min(1.0, made.share_of(made.starved_ns.value()).value_or(0));
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(kHeadroom * *each * ready / between.mean()), 1.0, kMost));
}

namespace {

// Imports, opens files, fills caches.
bool is_first_of_process(const MadeBatch& one) { return one.iteration == 0 && one.number == 0; }

void add_loader_sums_time(LoopTime& time, const BatchWait& wait, const LoopWork& work) {
  time.wait_ns += wait.length();
  if (wait.first) time.first_wait_ns += wait.length();
  time.whole += wait.beside ? wait.whole() : wait.length() + work.all_ns;
}

// `slowed`: that of batches a profiler slowed.
void add_wait(LoaderSums& sums, LoopTime& slowed, const BatchWait& wait, const MadeBatch* made,
              const std::vector<RecordedStep>& steps, Nanos least) {
  if (!wait.gave()) {
    sums.end_ns += wait.length();
    return;
  }
  sums.beside |= wait.beside;
  const LoopWork work = loop_work(steps, wait);
  add_loader_sums_time(work.traced && !wait.beside ? slowed : sums.time, wait, work);
  if (!wait.beside && !work.traced && wait.until > wait.end) sums.between.add(work.ns);
  sums.waits.add(wait.length());
  if (wait.first) {
    ++sums.passes;
    sums.first_wait_ns += wait.length();
  }
  sums.samples.add(made != nullptr && made->samples ? made->samples : wait.samples);
  if (wait.ready) {
    sums.ready += *wait.ready;
    ++sums.ready_known;
  }
  if (made != nullptr) sums.made.add(*made);
  if (made != nullptr && !is_first_of_process(*made)) {
    sums.later_made.add(made->length());
  }
  if (wait.length() < least) return;
  ++sums.waited;
  const LateCause cause = why_late(wait, made);
  sums.causes[cause] += wait.length();
  if (wait.worker && cause != LateCause::kHandOver && cause != LateCause::kStartUp) {
    WorkerSums& worker = sums.workers[*wait.worker];
    ++worker.late;
    worker.late_ns += wait.length();
    const bool is_its_first = made != nullptr ? made->number == 0 : wait.first;
    if (!is_its_first) worker.later_late_ns += wait.length();
  }
}

}  // namespace

std::map<LoaderKey, LoaderSums> loader_sums(const RankLoading& rank,
                                            const std::vector<RecordedStep>& steps, Nanos least) {
  std::map<LoaderKey, LoaderSums> loaders;
  std::map<std::string, std::string> phases;  // of a loader, for batches never received
  std::map<LoaderKey, LoopTime> slowed;
  std::vector<const LoaderKey*> key_of(rank.made.size(), nullptr);
  for (const BatchWait& wait : rank.waits) {
    if (!wait.counts) continue;
    const auto [found, is_new] = loaders.try_emplace({wait.loader, wait.phase});
    phases.try_emplace(wait.loader, wait.phase);
    if (wait.made != kNoBatch) key_of[wait.made] = &found->first;
    add_wait(found->second, slowed[found->first], wait, rank.made_for(wait), steps, least);
  }
  for (auto& [key, sums] : loaders) {
    if (sums.time.whole == 0) sums.time = slowed[key];
  }
  for (std::size_t i = 0; i < rank.made.size(); ++i) {
    const MadeBatch& one = rank.made[i];
    if (!one.worker || !one.counts) continue;
    const auto phase = phases.find(one.loader);
    if (key_of[i] == nullptr && phase == phases.end()) continue;
    const LoaderKey key = key_of[i] != nullptr ? *key_of[i] : LoaderKey{one.loader, phase->second};
    WorkerSums& worker = loaders[key].workers[*one.worker];
    worker.made.add(one);
    const auto [alive, is_new] =
        worker.processes[one.pid].try_emplace(one.iteration, one.start, one.end);
    alive->second.first = std::min(alive->second.first, one.start);
    alive->second.last = std::max(alive->second.last, one.end);
  }
  return loaders;
}

std::vector<LoaderStep> loader_steps(const RankLoading& rank,
                                     const std::vector<RecordedStep>& steps) {
  // Loaders on several threads may be asked at once: by end, not by start.
  std::vector<const BatchWait*> by_end;
  by_end.reserve(rank.waits.size());
  for (const BatchWait& wait : rank.waits) {
    if (!wait.beside) by_end.push_back(&wait);
  }
  const bool known = !by_end.empty() || rank.waits.empty();
  std::ranges::stable_sort(by_end, {}, &BatchWait::end);
  std::vector<LoaderStep> out;
  for (const RecordedStep& step : steps) {
    LoaderStep& one = out.emplace_back(LoaderStep{.step = step, .known = known});
    // A wait belongs to the step in which it ended.
    auto wait = std::ranges::upper_bound(by_end, step.start, {}, &BatchWait::end);
    for (; wait != by_end.end() && (*wait)->end <= step.end(); ++wait) {
      if (step.is_aside((*wait)->end)) continue;
      one.wait_ns += (*wait)->length();
      if (!(*wait)->gave()) continue;
      ++one.batches;
      if (one.longest != nullptr && (*wait)->length() <= one.longest->length()) continue;
      one.longest = *wait;
      one.made = rank.made_for(**wait);
    }
  }
  return out;
}

}  // namespace stepscope::analysis
