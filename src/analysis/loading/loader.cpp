// Whether the data loader keeps up, and if not, which worker was late and what it was doing: from
// what prof.watch(loader) recorded in the training loop and in the workers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/loading/loader_records.h"
#include "analysis/loading/loader_sums.h"
#include "analysis/registry.h"
#include "analysis/system/curve_values.h"
#include "analysis/system/node_curves.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// What a rank's GPUs did while its loop ran over a loader, by the samples of its machine.

// Shares of the time in which they had nothing to do, as their driver counts; of several GPUs the
// mean. Nothing where they were not sampled. The curves must outlive it.
class GpuMeanwhile {
 public:
  GpuMeanwhile(const RunView& view, const std::vector<NodeCurves>& nodes, std::int32_t rank);

  std::optional<double> idle_share(std::span<const Interval> within) const;
  // While the loop ran over one loader.
  std::optional<double> idle_share(const RankLoading& loading, const LoaderKey& key) const;

 private:
  struct Samples {
    double busy = 0, count = 0;
    std::optional<double> idle_share() const;
  };
  void add(Interval within, Samples& samples) const;

  std::vector<CurveReader> busy_;  // in percent
};

GpuMeanwhile::GpuMeanwhile(const RunView& view, const std::vector<NodeCurves>& nodes,
                           std::int32_t rank) {
  const auto hosts = hosts_of_ranks(view);
  const auto host = hosts.find(rank);
  if (host == hosts.end()) return;
  const auto node = std::ranges::find(nodes, host->second, &NodeCurves::host);
  if (node == nodes.end()) return;
  for (const std::string& gpu : gpus_of_rank(*node, rank)) {
    const Curve* const curve = node->find("gpu.busy", "device", gpu);
    if (curve != nullptr) busy_.emplace_back(curve);
  }
}

std::optional<double> GpuMeanwhile::Samples::idle_share() const {
  if (count <= 0) return std::nullopt;
  return 1 - busy / count * 0.01;
}

void GpuMeanwhile::add(Interval within, Samples& samples) const {
  for (const CurveReader& reader : busy_) {
    const auto mean = reader.mean(within);
    if (!mean) continue;
    const auto count = static_cast<double>(reader.samples(within));
    samples.busy += *mean * count;
    samples.count += count;
  }
}

std::optional<double> GpuMeanwhile::idle_share(std::span<const Interval> within) const {
  Samples samples;
  for (const Interval& one : within) add(one, samples);
  return samples.idle_share();
}

std::optional<double> GpuMeanwhile::idle_share(const RankLoading& loading,
                                               const LoaderKey& key) const {
  Samples samples;
  for (const BatchWait& wait : loading.waits) {
    if (!wait.counts || wait.loader != key.loader || wait.phase != key.phase) continue;
    const Interval all{wait.start, wait.until};
    for (const Interval& part : subtract(std::span(&all, 1), wait.aside)) add(part, samples);
  }
  return samples.idle_share();
}

// The answer in a sentence per loader: how long the loop waited, for which worker, and what that
// worker did.

class LoaderRemarks {
 public:
  // gpu_idle: the share of the time in which the rank's GPUs had nothing to do, if it is known.
  void add(std::int32_t rank, const LoaderKey& key, const LoaderSums& sums,
           const std::optional<double>& gpu_idle);
  // The same of a step, and of the batch it waited for longest.
  void add_step(std::int32_t rank, const LoaderStep& step, const std::optional<double>& gpu_idle);
  // Of several ranks the one that waited longest speaks, and of steps that the GPU was sampled in
  // the one that did.
  std::vector<std::string> sentences(bool several_ranks) const;

 private:
  struct Said {
    double share = 0;
    std::int32_t rank = 0;
    std::string text;
  };
  std::map<LoaderKey, Said> worst_;
  base::Nanos longest_ = 0;  // wait of a step
  Said step_;
};

using base::Nanos;

// Below this the loader keeps up.
constexpr double kWorthSaying = 0.01;
constexpr double kWorthSayingOfStep = 0.1;
// Less than this in all is no waiting: a loop that does nothing may spend all its time so.
constexpr Nanos kNothing = 1'000'000;
// Longer than this, of the time of the loop, the end of its passes is worth a word.
constexpr double kEndMatters = 0.05;
// Where less than this share of the waiting remains, starting up is worth a word.
constexpr double kFirstMatters = 0.8;

std::string percent(double share) {
  const double value = 100 * share;
  return value < 9.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit > 0 && value < 9.95 ? 1 : 0, kUnits[unit]);
}

// "80 % of its time in transform".
std::string largest_part(const MadeSums& made) {
  struct Part {
    std::string_view name;
    std::optional<double> share;
  };
  const std::array<Part, 3> parts = {Part{"fetch", made.share_of(made.fetch_ns)},
                                     Part{"transform", made.share_of(made.transform_ns.value())},
                                     Part{"collate", made.share_of(made.collate_ns.value())}};
  const auto* const most =
      std::ranges::max_element(parts, {}, [](const Part& part) { return part.share.value_or(-1); });
  if (!most->share) return {};
  return fmt::format("{} of its time in {}", percent(*most->share), most->name);
}

std::string about_worker(const MadeSums& made) {
  std::string text;
  if (made.read_bytes.sum > 0) text = bytes_text(made.read_bytes.sum) + " read";
  if (made.files.known && made.files.sum > 0) {
    text += fmt::format(" from {} file{}", made.files.sum, made.files.sum == 1 ? "" : "s");
  }
  if (const std::string part = largest_part(made); !part.empty()) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

// "worker 3 read 48 MB".
std::string meanwhile(const LoaderStep& step) {
  const MadeBatch* const made = step.made;
  const std::string who = step.longest->worker ? fmt::format("worker {}", *step.longest->worker)
                          : made != nullptr    ? std::string("the loop")
                                               : std::string("the loop waited for data");
  if (made == nullptr) return step.longest->worker ? who + " was waited for" : who;
  if (!made->read_bytes || *made->read_bytes == 0) return who + " made its batch";
  return fmt::format("{} read {}", who, bytes_text(*made->read_bytes));
}

std::string title_of(const LoaderKey& key) {
  return key.phase == "training" || key.loader.ends_with(fmt::format(" ({})", key.phase))
             ? key.loader
             : fmt::format("{} ({})", key.loader, key.phase);
}

// What the shares do not have: no loop waits for data, and it lies in no step.
std::string about_end(const LoaderSums& sums) {
  if (sums.end_ns < kNothing ||
      static_cast<double>(sums.end_ns) < kEndMatters * static_cast<double>(sums.time.whole)) {
    return {};
  }
  return fmt::format(
      " After the last batch of {} it took {:.3g} s to come to an end{}: that is no "
      "waiting for data, and in no share.",
      sums.passes == 1 ? "the pass" : fmt::format("its {} passes", sums.passes),
      static_cast<double>(sums.end_ns) * 1e-9, sums.workers.empty() ? "" : ", with its workers");
}

std::string sentence(const LoaderKey& key, const LoaderSums& sums, double share,
                     const std::optional<double>& gpu_idle) {
  if (sums.beside) {
    return fmt::format(
        "{} is read ahead of the loop by a thread of its own, which waited {} of the time; how "
        "long the loop waited for that thread is not known: watch what the loop iterates over.",
        title_of(key), percent(share));
  }
  std::string text =
      fmt::format("{} kept the loop waiting {} of the time", title_of(key), percent(share));
  if (share < kWorthSaying || sums.waits.sum() < kNothing) {
    return text + ": it keeps up." + about_end(sums);
  }
  const double later = sums.later_wait_share();
  if (later < kFirstMatters * share) {
    text += fmt::format(", but {} without the first batch of {}", percent(later),
                        sums.passes == 1 ? "the pass" : fmt::format("its {} passes", sums.passes));
    if (later < kWorthSaying) return text + ": from then on it keeps up." + about_end(sums);
  }
  if (const auto worst = sums.late_worker()) {
    const WorkerSums& worker = sums.workers.at(*worst);
    text += fmt::format("; worker {} was late in {} of {} batches", *worst, worker.late,
                        sums.waits.count());
    if (const std::string more = about_worker(worker.made); !more.empty()) text += ": " + more;
  } else if (sums.workers.empty() && sums.made.lengths.count() > 0) {
    text += "; it has no workers, the loop makes its batches itself: " + about_worker(sums.made);
  }
  text += '.';
  text += about_end(sums);
  if (gpu_idle) {
    text += fmt::format(" The GPU was idle {} of the time meanwhile, as its driver counts.",
                        percent(*gpu_idle));
  }
  return text;
}

void LoaderRemarks::add(std::int32_t rank, const LoaderKey& key, const LoaderSums& sums,
                        const std::optional<double>& gpu_idle) {
  if (sums.waits.count() == 0 || sums.time.whole <= 0) return;
  const double share = sums.wait_share();
  const auto [found, is_new] = worst_.try_emplace(key);
  if (!is_new && share <= found->second.share) return;
  found->second = {share, rank, sentence(key, sums, share, gpu_idle)};
}

void LoaderRemarks::add_step(std::int32_t rank, const LoaderStep& step,
                             const std::optional<double>& gpu_idle) {
  if (!gpu_idle || step.longest == nullptr || step.wait_ns <= longest_) return;
  const double share =
      static_cast<double>(step.wait_ns) / static_cast<double>(std::max(step.step.length, Nanos{1}));
  if (share < kWorthSayingOfStep) return;
  longest_ = step.wait_ns;
  step_ = {share, rank,
           fmt::format("step {} waited longest: the GPU was idle {} of the step while {}.",
                       step.step.number, percent(*gpu_idle), meanwhile(step))};
}

std::vector<std::string> LoaderRemarks::sentences(bool several_ranks) const {
  std::vector<std::string> out;
  out.reserve(worst_.size());
  for (const auto& [key, said] : worst_) {
    out.push_back(several_ranks ? fmt::format("Rank {}: {}", said.rank, said.text) : said.text);
  }
  if (longest_ > 0) {
    out.push_back(several_ranks ? fmt::format("On rank {} {}", step_.rank, step_.text)
                                : fmt::format("Of the steps, {}", step_.text));
  }
  return out;
}

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kLoaderParameters = std::to_array<Parameter>({
    {"min-wait", ParameterType::kDuration, "1ms",
     "a shorter wait is none: taking a batch that is there takes a moment too"},
});

constexpr base::ColumnShape kLoaderName{"loader", Type::kText, Unit::kNone,
                                        "its class, or the name it was watched by"};
constexpr base::ColumnShape kLoaderPhase{
    "phase", Type::kText, Unit::kNone,
    "training, validation, … as named, or by a range around the loop"};
constexpr base::ColumnShape kFetchShare{"fetch_share", Type::kReal, Unit::kShare,
                                        "of making batches: all but transform and collate"};
constexpr base::ColumnShape kTransformShare{
    "transform_share", Type::kReal, Unit::kShare,
    "of making batches: transforms of the dataset. Empty: none was found, it is part of fetch"};
constexpr base::ColumnShape kCollateShare{"collate_share", Type::kReal, Unit::kShare,
                                          "of making batches: samples are put together"};
constexpr base::ColumnShape kCpuCores{
    "cpu_cores", Type::kReal, Unit::kNone,
    "processors kept busy while batches are made: processor time over that time, threads added"};
constexpr base::ColumnShape kStarvedShare{"starved_share", Type::kReal, Unit::kShare,
                                          "of making batches: ready to run, and no core was free"};
constexpr base::ColumnShape kReadBytes{"read_bytes", Type::kInt, Unit::kBytes,
                                       "asked for by read calls, from the page cache too"};
constexpr base::ColumnShape kStorageBytes{"storage_bytes", Type::kInt, Unit::kBytes,
                                          "that had to come from a disk"};
constexpr base::ColumnShape kFiles{"files", Type::kInt, Unit::kCount,
                                   "opened for reading by Python; workers only"};
constexpr base::ColumnShape kRead{"bytes_per_second", Type::kReal, Unit::kBytesPerSecond,
                                  "read_bytes over the time of making batches"};

constexpr std::array kLoaderLoaderColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kLoaderName,
    kLoaderPhase,
    {"workers", Type::kInt, Unit::kCount, "that made batches; 0: the training loop itself"},
    {"batches", Type::kInt, Unit::kCount, "that came"},
    {"samples", Type::kInt, Unit::kCount, "in them; empty: not known"},
    {"wait_ns", Type::kInt, Unit::kNanos, "the loop waited for them"},
    {"wait_share", Type::kReal, Unit::kShare,
     "of waiting for batches and working on them; without traced steps, validation in between and "
     "the opening of a profiler"},
    {"passes", Type::kInt, Unit::kCount, "over the loader, of which a batch came"},
    {"first_wait_ns", Type::kInt, Unit::kNanos,
     "of wait_ns: for the first batches of all passes, together, while workers start"},
    {"later_wait_share", Type::kReal, Unit::kShare,
     "the rest of the waiting, of the rest of the time: what a long pass comes to"},
    {"end_ns", Type::kInt, Unit::kNanos,
     "asked in vain: the pass is over, and workers are let go. In no wait and no share"},
    {"waited", Type::kInt, Unit::kCount, "batches that took at least --min-wait to come"},
    {"mean_wait_ns", Type::kReal, Unit::kNanos, "per batch"},
    {"median_wait_ns", Type::kInt, Unit::kNanos, "half of the waits were not longer"},
    {"p95_wait_ns", Type::kInt, Unit::kNanos, "19 of 20 waits were not longer"},
    {"max_wait_ns", Type::kInt, Unit::kNanos, "the longest wait"},
    {"mean_ready", Type::kReal, Unit::kNone, "batches that were ready when the loop asked"},
    {"late_worker", Type::kInt, Unit::kId, "the worker that was waited for longest"},
    {"cause", Type::kText, Unit::kNone, "what most of the waiting was for"},
    {"make_ns", Type::kReal, Unit::kNanos,
     "mean time to make one of these batches; without the first of each process"},
    {"between_ns", Type::kReal, Unit::kNanos,
     "mean time the loop works on a batch before it asks for the next; traced steps left out"},
    {"workers_needed", Type::kInt, Unit::kCount,
     "workers that would keep up, each on a core of its own; empty: not known"},
    kFetchShare,
    kTransformShare,
    kCollateShare,
    kCpuCores,
    kStarvedShare,
    kReadBytes,
    kStorageBytes,
    kFiles,
    kRead,
    {"batches_per_second", Type::kReal, Unit::kPerSecond,
     "that can be made: by all workers side by side, if none of them ever waits"},
    {"batch_bytes", Type::kInt, Unit::kBytes,
     "of the tensors and arrays of the batches; empty: not known"},
});

constexpr std::array kLoaderWorkerColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kLoaderName,
    kLoaderPhase,
    {"worker", Type::kInt, Unit::kId, "its number"},
    {"processes", Type::kInt, Unit::kCount, "it ran as: a new one per pass unless persistent"},
    {"batches", Type::kInt, Unit::kCount, "that it made"},
    {"busy_ns", Type::kInt, Unit::kNanos, "making them"},
    {"busy_share", Type::kReal, Unit::kShare,
     "of the time from its first batch of a pass to its last, over all passes"},
    {"mean_ns", Type::kReal, Unit::kNanos, "per batch"},
    {"median_ns", Type::kInt, Unit::kNanos, "half of its batches did not take longer"},
    {"p95_ns", Type::kInt, Unit::kNanos, "19 of 20 did not take longer"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest"},
    {"late", Type::kInt, Unit::kCount, "waits for a batch it was still making"},
    {"late_ns", Type::kInt, Unit::kNanos, "those waits"},
    kFetchShare,
    kTransformShare,
    kCollateShare,
    kCpuCores,
    kStarvedShare,
    kReadBytes,
    kStorageBytes,
    kFiles,
    kRead,
});

constexpr std::array kLoaderStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kStep,
    {"start_ns", Type::kInt, Unit::kInstant, "since the first recording of the run began"},
    {"step_ns", Type::kInt, Unit::kNanos,
     "from the mark of the step before to its own, without declared validation"},
    {"batches", Type::kInt, Unit::kCount, "that came during it"},
    {"wait_ns", Type::kInt, Unit::kNanos, "waiting for them"},
    {"wait_share", Type::kReal, Unit::kShare, "of the step"},
    kLoaderName,
    {"worker", Type::kInt, Unit::kId,
     "that made the batch that was waited for longest; so the columns that follow"},
    {"cause", Type::kText, Unit::kNone, "what kept it; empty: it did not take --min-wait"},
    {"ready", Type::kInt, Unit::kCount, "batches that were ready when the loop asked for it"},
    {"make_ns", Type::kInt, Unit::kNanos, "making it"},
    {"fetch_ns", Type::kInt, Unit::kNanos, "of that: all but transform and collate"},
    {"transform_ns", Type::kInt, Unit::kNanos, "of that: transforms of the dataset"},
    {"collate_ns", Type::kInt, Unit::kNanos, "of that: samples are put together"},
    kReadBytes,
    kFiles,
    {"gpu_idle_share", Type::kReal, Unit::kShare,
     "of the step: the rank's GPUs had nothing to do, mean of the samples within it; null: none"},
});

constexpr std::array<std::string_view, 1> kWait = {"wait_ns"};
constexpr std::array<std::string_view, 1> kLoaderBusy = {"busy_ns"};
constexpr std::array kLoaderTables = std::to_array<base::TableShape>({
    {"loaders",
     "one loader of one rank in one phase",
     kLoaderLoaderColumns,
     {base::Chart::kBars, "loader", kWait, "rank"}},
    {"workers",
     "one worker of a loader",
     kLoaderWorkerColumns,
     {base::Chart::kBars, "worker", kLoaderBusy, "loader"}},
    {"steps",
     "one step of one rank, and the batch it waited for longest",
     kLoaderStepColumns,
     {base::Chart::kStack, "step", kWait, "rank"}},
});

Cell ratio_loader(std::optional<std::int64_t> part, Nanos whole) {
  if (!part || whole <= 0) return Null{};
  return static_cast<double>(*part) / static_cast<double>(whole);
}

Cell per_second(const KnownSum& amount, Nanos time) {
  constexpr double kSecond = 1e9;
  if (!amount.known || time <= 0) return Null{};
  return kSecond * static_cast<double>(amount.sum) / static_cast<double>(time);
}

// From fetch_share to bytes_per_second: of all batches of a loader, and of those of a worker.
void add_made(std::vector<Cell>& row, const MadeSums& made) {
  row.insert(row.end(), {made.share_of(made.fetch_ns), made.share_of(made.transform_ns.value()),
                         made.share_of(made.collate_ns.value()), made.share_of(made.cpu_ns.value()),
                         made.share_of(made.starved_ns.value()), Cell(made.read_bytes.value()),
                         Cell(made.storage_bytes.value()), Cell(made.files.value()),
                         per_second(made.read_bytes, made.lengths.sum())});
}

void add_loader(base::Table& table, std::int32_t rank, const LoaderKey& key, LoaderSums& sums) {
  Durations& waits = sums.waits;
  if (waits.count() == 0) return;
  const MadeSums& made = sums.made;
  const auto cause = sums.cause();
  const bool known = made.lengths.count() > 0;
  const auto capacity = sums.capacity();
  std::vector<Cell> row = {
      rank,
      key.loader,
      key.phase,
      sums.workers.size(),
      waits.count(),
      Cell(sums.samples.value()),
      waits.sum(),
      ratio_loader(sums.time.wait_ns, sums.time.whole),
      sums.passes,
      sums.first_wait_ns,
      sums.time.whole > sums.time.first_wait_ns ? Cell(sums.later_wait_share()) : Cell(Null{}),
      sums.end_ns,
      sums.waited,
      waits.mean(),
      waits.median(),
      waits.percentile(0.95),
      waits.max(),
      ratio_loader(sums.ready, sums.ready_known),
      Cell(sums.late_worker()),
      cause ? Cell(name_of(*cause)) : Cell(Null{}),
      known ? Cell(sums.make_ns()) : Cell(Null{}),
      sums.between.count() > 0 ? Cell(sums.between.mean()) : Cell(Null{}),
      Cell(sums.workers_needed())};
  add_made(row, made);
  row.push_back(Cell(capacity));
  row.push_back(Cell(made.batch_bytes.value()));
  table.add(row);
}

void add_worker(base::Table& table, std::int32_t rank, const LoaderKey& key, std::int64_t number,
                WorkerSums& worker) {
  const MadeSums& made = worker.made;
  Durations lengths = made.lengths;
  const bool known = lengths.count() > 0;
  const auto if_known = [&](auto value) { return known ? Cell(value) : Cell(Null{}); };
  std::vector<Cell> row = {rank,
                           key.loader,
                           key.phase,
                           number,
                           if_known(worker.processes.size()),
                           if_known(lengths.count()),
                           if_known(lengths.sum()),
                           ratio_loader(lengths.sum(), worker.alive_ns()),
                           if_known(lengths.mean()),
                           if_known(known ? lengths.median() : 0),
                           if_known(known ? lengths.percentile(0.95) : 0),
                           if_known(lengths.max()),
                           worker.late,
                           worker.late_ns};
  add_made(row, made);
  table.add(row);
}

void add_loader_step(base::Table& table, std::int32_t rank, const LoaderStep& step, Nanos least,
                     const std::optional<double>& gpu_idle) {
  const BatchWait* const longest = step.longest;
  const MadeBatch* const made = step.made;
  const auto cause = longest == nullptr || longest->length() < least ? LateCause::kUnknown
                                                                     : why_late(*longest, made);
  const auto of_made = [&](auto value) {
    return made == nullptr ? Cell(Null{}) : Cell(value(*made));
  };
  const auto if_known = [&](const Cell& cell) { return step.known ? cell : Cell(Null{}); };
  table.add({rank, step.step.number, step.step.start, step.step.length, if_known(step.batches),
             if_known(step.wait_ns), if_known(ratio_loader(step.wait_ns, step.step.length)),
             longest == nullptr ? Cell(Null{}) : Cell(longest->loader),
             longest == nullptr ? Cell(Null{}) : Cell(longest->worker),
             cause == LateCause::kUnknown ? Cell(Null{}) : Cell(name_of(cause)),
             longest == nullptr ? Cell(Null{}) : Cell(longest->ready),
             of_made([](const MadeBatch& one) { return one.length(); }),
             of_made([](const MadeBatch& one) { return one.fetch_ns(); }),
             of_made([](const MadeBatch& one) { return one.transform_ns; }),
             of_made([](const MadeBatch& one) { return one.collate_ns; }),
             of_made([](const MadeBatch& one) { return one.read_bytes; }),
             of_made([](const MadeBatch& one) { return one.files; }), Cell(gpu_idle)});
}

Answer run_loader(const RunView& view, const Options& options) {
  const Nanos least = options.duration("min-wait");
  base::Table loaders(kLoaderTables[0]);
  base::Table workers(kLoaderTables[1]);
  base::Table steps(kLoaderTables[2]);
  Answer answer;
  LoaderRemarks remarks;
  const auto ranks = loading_by_rank(view);
  const auto marked = recorded_steps(view);
  const std::vector<NodeCurves> nodes = node_curves(view);
  for (const auto& [rank, loading] : ranks) {
    const GpuMeanwhile gpu(view, nodes, rank);
    const auto found = marked.find(rank);
    const auto by_step =
        found == marked.end() ? std::vector<LoaderStep>() : loader_steps(loading, found->second);
    const auto steps_of_rank = found == marked.end() ? std::vector<RecordedStep>() : found->second;
    for (auto& [key, sums] : loader_sums(loading, steps_of_rank, least)) {
      add_loader(loaders, rank, key, sums);
      for (auto& [number, worker] : sums.workers) add_worker(workers, rank, key, number, worker);
      remarks.add(rank, key, sums, gpu.idle_share(loading, key));
    }
    for (const LoaderStep& step : by_step) {
      const auto idle = gpu.idle_share(step.step.own_time());
      add_loader_step(steps, rank, step, least, idle);
      remarks.add_step(rank, step, idle);
    }
  }
  for (std::string& sentence : remarks.sentences(ranks.size() > 1)) {
    answer.remarks.emplace_back(std::move(sentence));
  }
  if (loaders.rows() == 0) {
    answer.remarks.emplace_back(
        is_of_program(view)
            ? "No training was seen in this program, so that no loader was watched."
            : "No batches of a watched loader were recorded: iterate over "
              "prof.watch(loader) in the training loop. (One that gives no batch leaves "
              "none either.)");
  } else if (marked.empty()) {
    answer.remarks.push_back(
        Remark::on_table("steps", "No steps were recorded: call prof.step() at the end of each."));
  }
  for (base::Table* table : {&loaders, &workers, &steps}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kLoader{
    .name = "loader",
    .title = "The data loader and its workers",
    .question = "Does the data loader keep up, and if not, which worker was late, and why?",
    .parameters = kLoaderParameters,
    .tables = kLoaderTables,
    .run = run_loader,
    .needs = Needs::kRecording,
};

}  // namespace stepscope::analysis
