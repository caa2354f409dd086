// Whether the data loader keeps up, and if not, which worker was late and what it was doing: from
// what prof.watch(loader) recorded in the training loop and in the workers.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/loading/gpu_meanwhile.h"
#include "analysis/loading/loader_remarks.h"
#include "analysis/loading/loader_steps.h"
#include "analysis/loading/loader_sums.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

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
    "training, validation, … as told, or by a range around the loop"};
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
    {"make_ns", Type::kReal, Unit::kNanos, "mean time to make one of these batches"},
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
      known ? Cell(made.lengths.mean()) : Cell(Null{}),
      sums.between.count() > 0 ? Cell(sums.between.mean()) : Cell(Null{}),
      Cell(sums.workers_needed())};
  add_made(row, made);
  row.push_back(Cell(capacity));
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
      const auto idle = gpu.idle_share(step.step.own());
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
