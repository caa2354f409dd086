#include "analysis/loading/loader_sums.h"

#include <algorithm>

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
}

std::optional<double> MadeSums::share_of(const std::optional<std::int64_t>& part) const {
  if (!part || lengths.sum() == 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(lengths.sum());
}

Nanos WorkerSums::alive_ns() const {
  Nanos sum = 0;
  for (const auto& [pid, alive] : processes) sum += alive.last - alive.first;
  return sum;
}

double LoaderSums::wait_share() const {
  return whole <= 0 ? 0 : static_cast<double>(waits.sum()) / static_cast<double>(whole);
}

double LoaderSums::later_wait_share() const {
  const Nanos later = whole - first_wait_ns;
  if (later <= 0) return 0;
  return static_cast<double>(waits.sum() - first_wait_ns) / static_cast<double>(later);
}

std::optional<LateCause> LoaderSums::cause() const {
  const auto most =
      std::ranges::max_element(causes, {}, [](const auto& one) { return one.second; });
  if (most == causes.end() || most->first == LateCause::kUnknown) return std::nullopt;
  return most->first;
}

std::optional<std::int64_t> LoaderSums::late_worker() const {
  std::optional<std::int64_t> worst;
  Nanos most = 0;
  for (const auto& [number, worker] : workers) {
    if (worker.late_ns <= most) continue;
    most = worker.late_ns;
    worst = number;
  }
  return worst;
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

namespace {

void add_wait(LoaderSums& sums, const BatchWait& wait, const MadeBatch* made, Nanos least) {
  sums.whole += wait.until - wait.start;
  if (!wait.gave()) return;
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
  if (wait.length() < least) return;
  ++sums.waited;
  const LateCause cause = why_late(wait, made);
  sums.causes[cause] += wait.length();
  if (wait.worker && cause != LateCause::kHandOver) {
    WorkerSums& worker = sums.workers[*wait.worker];
    ++worker.late;
    worker.late_ns += wait.length();
  }
}

}  // namespace

std::map<LoaderKey, LoaderSums> loader_sums(const RankLoading& rank, Nanos least) {
  std::map<LoaderKey, LoaderSums> loaders;
  std::map<std::string, std::string> phases;  // of a loader, for batches nobody received
  std::vector<const LoaderKey*> key_of(rank.made.size(), nullptr);
  for (const BatchWait& wait : rank.waits) {
    if (!wait.counts) continue;
    const auto [found, is_new] = loaders.try_emplace({wait.loader, wait.phase});
    phases.try_emplace(wait.loader, wait.phase);
    if (wait.made != kNoBatch) key_of[wait.made] = &found->first;
    add_wait(found->second, wait, rank.made_for(wait), least);
  }
  for (std::size_t i = 0; i < rank.made.size(); ++i) {
    const MadeBatch& one = rank.made[i];
    if (!one.worker || !one.counts) continue;
    const auto phase = phases.find(one.loader);
    if (key_of[i] == nullptr && phase == phases.end()) continue;
    const LoaderKey key = key_of[i] != nullptr ? *key_of[i] : LoaderKey{one.loader, phase->second};
    WorkerSums& worker = loaders[key].workers[*one.worker];
    worker.made.add(one);
    const auto [alive, is_new] = worker.processes.try_emplace(one.pid, one.start, one.end);
    alive->second.first = std::min(alive->second.first, one.start);
    alive->second.last = std::max(alive->second.last, one.end);
  }
  return loaders;
}

}  // namespace stepscope::analysis
