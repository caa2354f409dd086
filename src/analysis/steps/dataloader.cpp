// How long the training loop waits for data, and what the devices did meanwhile.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/intervals.h"
#include "analysis/device/classes.h"
#include "analysis/key_columns.h"
#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/steps/loader_waits.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// When the worker processes of a loader made batches, for questions about a trace.

struct WorkerActivity {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string name;  // "worker 3 of DataLoader"
  Intervals active;  // on the wall clock
};

// Time of the measured steps of a window; nothing where the window's clock is not known or the
// worker had ended before it, or began after it.
std::optional<base::Nanos> active_within(const WorkerActivity& worker, const WindowView& window);

// By rank, then loader, worker and process.
std::vector<WorkerActivity> worker_activity(const RunView& view) {
  std::vector<WorkerActivity> out;
  const base::Nanos zero = recording_start(view);
  for (const auto& [rank, loading] : loading_by_rank(view)) {
    std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::vector<Interval>> workers;
    for (const MadeBatch& one : loading.made) {
      if (!one.worker) continue;
      workers[{one.loader, *one.worker, one.pid}].push_back({one.start + zero, one.end + zero});
    }
    for (auto& [key, spans] : workers) {
      const auto& [loader, worker, pid] = key;
      out.push_back({rank, pid, fmt::format("worker {} of {}", worker, loader),
                     sorted_union(std::move(spans))});
    }
  }
  return out;
}

std::optional<base::Nanos> active_within(const WorkerActivity& worker, const WindowView& window) {
  const trace::Clock& clock = window.trace->clock();
  if (!clock.base_known || worker.active.empty() || window.measured.empty()) return std::nullopt;
  const base::Nanos shift = clock.base_ns + clock.offset_ns;
  Intervals measured = window.measured;
  for (Interval& span : measured) {
    span.start += shift;
    span.end += shift;
  }
  if (worker.active.back().end <= measured.front().start ||
      measured.back().end <= worker.active.front().start) {
    return std::nullopt;
  }
  return common(worker.active, measured);
}

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr base::ColumnShape kDataloaderBusy{"gpu_busy_ns", Type::kInt, Unit::kNanos,
                                            "of the waiting: some GPU still worked"};
constexpr base::ColumnShape kDataloaderIdle{
    "gpu_idle_ns", Type::kInt, Unit::kNanos,
    "of the waiting: no GPU did anything. This time is lost"};

constexpr std::array kDataloaderRankColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"steps", Type::kInt, Unit::kCount, "how many steps"},
    {"fetches", Type::kInt, Unit::kCount,
     "how often the loop asked for data during them; empty, as what follows: no loader is seen"},
    {"wait_ns", Type::kInt, Unit::kNanos, "waiting for data, all steps together"},
    {"wait_share", Type::kReal, Unit::kShare, "of the time of all steps"},
    {"mean_wait_ns", Type::kReal, Unit::kNanos, "per step"},
    {"max_wait_ns", Type::kInt, Unit::kNanos, "in the step that waited longest"},
    kDataloaderBusy,
    kDataloaderIdle,
    {"gpu_idle_share", Type::kReal, Unit::kShare, "of the time of all steps"},
});
constexpr std::array kDataloaderStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    key::kStep,
    {"step_ns", Type::kInt, Unit::kNanos,
     "wall time of the step, until the GPU work it started has ended"},
    {"fetches", Type::kInt, Unit::kCount, "how often the loop asked for data"},
    {"wait_ns", Type::kInt, Unit::kNanos, "the host waits for data"},
    {"wait_share", Type::kReal, Unit::kShare, "of the step"},
    kDataloaderBusy,
    kDataloaderIdle,
});
constexpr std::array kDataloaderLoaderColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"loader", Type::kText, Unit::kNone, "class of the loader, as the range names it"},
    {"fetches", Type::kInt, Unit::kCount, "how often it was asked, in steps or not"},
    {"sum_ns", Type::kInt, Unit::kNanos, "time of all fetches"},
    {"median_ns", Type::kInt, Unit::kNanos, "half of the fetches were not longer"},
    {"p95_ns", Type::kInt, Unit::kNanos, "19 of 20 fetches were not longer"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest fetch"},
    {"operators_share", Type::kReal, Unit::kShare,
     "of this time: the loop itself runs operators, so the data is made here, not by workers"},
});
constexpr std::array kDataloaderWorkerColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    {"process", Type::kText, Unit::kNone, "its number, as the file says"},
    {"thread", Type::kText, Unit::kNone, "its number, as the file says"},
    {"name", Type::kText, Unit::kNone, "of the thread"},
    {"active_ns", Type::kInt, Unit::kNanos, "it does something during the steps"},
    {"active_share", Type::kReal, Unit::kShare, "of the time of the steps"},
});

constexpr std::array<std::string_view, 2> kMeanwhile = {"gpu_busy_ns", "gpu_idle_ns"};
constexpr std::array<std::string_view, 1> kDataloaderSum = {"sum_ns"};
constexpr std::array<std::string_view, 1> kActive = {"active_ns"};
constexpr std::array kDataloaderTables = std::to_array<base::TableShape>({
    {"ranks", "one rank", kDataloaderRankColumns, {base::Chart::kStack, "rank", kMeanwhile}},
    {"steps",
     "one step of one rank",
     kDataloaderStepColumns,
     {base::Chart::kStack, "step", kMeanwhile, "rank"}},
    {"loaders",
     "one loader of one rank",
     kDataloaderLoaderColumns,
     {base::Chart::kBars, "loader", kDataloaderSum, "rank"}},
    {"workers",
     "one recorded thread that loads data, or a worker process that stepscope recorded",
     kDataloaderWorkerColumns,
     {base::Chart::kBars, "name", kActive, "rank"}},
});

struct DataloaderWait {
  StepTime step;
  std::int64_t fetches = 0;
  Nanos length = 0;
  Nanos busy = 0;  // of it
};
struct Loader {
  Durations fetches;
  Nanos operators = 0;
};
struct DataloaderPartial {
  std::vector<DataloaderWait> steps;
  std::map<std::string, Loader> loaders;
  std::vector<LoadingThread> threads;
  bool known = false;  // a loader is in it; else how long the loop waits is not known
};

DataloaderPartial compute_dataloader(const WindowView& window) {
  DataloaderPartial out;
  Union waiting;
  std::vector<Nanos> starts;
  std::map<std::string, Nanos> begun;  // by loader: an iterator was made, nothing asked for yet
  for (const Fetch& fetch : fetches(*window.trace)) {
    const std::string_view range = window.trace->text(fetch.name);
    const std::string name = loader_name(range);
    waiting.add(fetch.start, fetch.end);
    out.known = true;
    if (begins_loading(range)) {
      begun[name] += fetch.end - fetch.start;
      continue;
    }
    starts.push_back(fetch.start);
    const Nanos before = std::exchange(begun[name], 0);
    if (!window.counts_at(fetch.start)) continue;
    Loader& loader = out.loaders[name];
    loader.fetches.add(before + fetch.end - fetch.start);
    loader.operators += fetch.operators;
  }
  Intervals busy;
  for (const DeviceView& device : window.devices) busy = unite(busy, device.busy);
  const Intervals both = intersect(waiting.set(), busy);
  for (const StepTime& step : window.steps) {
    if (!step.selected) continue;
    const auto first = std::ranges::lower_bound(starts, step.host.start);
    const auto last = std::ranges::lower_bound(starts, step.host.end);
    out.steps.push_back({.step = step,
                         .fetches = last - first,
                         .length = covered(waiting.set(), step.span),
                         .busy = covered(both, step.span)});
  }
  out.threads = loading_threads(*window.trace);
  return out;
}

// All windows of one rank.
struct DataloaderRank {
  std::int64_t steps = 0, fetches = 0;
  Nanos whole = 0, wait = 0, longest = 0, busy = 0;
  bool has_work = false;  // else what the devices did is not known
  bool known = false;     // some loader is in them
  std::map<std::string, Loader> loaders;

  void add(const DataloaderWait& one) {
    ++steps;
    fetches += one.fetches;
    whole += one.step.span.length();
    wait += one.length;
    longest = std::max(longest, one.length);
    busy += one.busy;
  }
};

Cell known(bool is_known, Nanos value) { return is_known ? Cell(value) : Cell(Null{}); }

void add_window(const WindowView& window, const DataloaderPartial& partial, DataloaderRank& rank,
                base::Table& steps, base::Table& workers) {
  const bool has_work = !window.work.empty();
  rank.has_work |= has_work;
  rank.known |= partial.known;
  for (const DataloaderWait& one : partial.steps) {
    rank.add(one);
    const bool has_both = has_work && partial.known;
    steps.add({window.rank, window.window, one.step.number, one.step.span.length(),
               known(partial.known, one.fetches), known(partial.known, one.length),
               partial.known ? Cell(share_of(one.length, one.step.span.length())) : Cell(Null{}),
               known(has_both, one.busy), known(has_both, one.length - one.busy)});
  }
  for (const auto& [name, loader] : partial.loaders) {
    rank.loaders[name].fetches.merge(loader.fetches);
    rank.loaders[name].operators += loader.operators;
  }
  for (const LoadingThread& thread : partial.threads) {
    const Nanos active = common(thread.active, window.measured);
    workers.add({window.rank, window.window, thread.process, thread.thread, thread.name, active,
                 share_of(active, window.measured_ns())});
  }
}

// Workers that recorded themselves, while this window was recorded.
void add_recorded(const WindowView& window, const std::vector<WorkerActivity>& recorded,
                  base::Table& workers) {
  for (const WorkerActivity& one : recorded) {
    if (one.rank != window.rank) continue;
    const auto active = active_within(one, window);
    if (!active) continue;
    const std::string pid = std::to_string(one.pid);
    workers.add({window.rank, window.window, pid, pid, one.name, *active,
                 share_of(*active, window.measured_ns())});
  }
}

// What the empty tables do not say.
std::optional<std::string> remark_dataloader(const RunView& view, const base::Table& steps,
                                             const base::Table& loaders,
                                             const base::Table& workers) {
  if (loaders.rows() == 0) {
    if (!view.has_trace()) {
      return "No loader was watched, so that how long the loop waits is not known: iterate over "
             "prof.watch(loader).";
    }
    if (steps.rows() == 0) {
      return "None of these steps was traced: 'loader' has what was recorded of all steps.";
    }
    return "No range of a data loader is in the trace: the loop does not use one, or it uses one "
           "that PyTorch's profiler does not know.";
  }
  if (workers.rows() > 0) return std::nullopt;
  bool several = false;
  bool single = true;
  for (std::size_t row = 0; row < loaders.rows(); ++row) {
    const std::string_view name = loaders.text_at(1, row);
    several |= name.find("MultiProcess") != std::string_view::npos;
    single &= name.find("SingleProcess") != std::string_view::npos;
  }
  if (single) {
    return "The loader has no workers (num_workers=0): the training loop makes the data itself.";
  }
  if (several) {
    return "The loader's workers are not in the trace: the profiler records the training process "
           "only. With stepscope.profile, prof.watch(loader) records them too.";
  }
  return std::nullopt;
}

// Where waits of steps that were not traced are known too, those of a few say little.
std::optional<std::string> about_the_rest(const RunView& view, const base::Table& steps) {
  if (!view.has_trace() || steps.rows() == 0 || loading_by_rank(view).empty()) return std::nullopt;
  std::size_t all = 0;
  for (const auto& [rank, list] : recorded_steps(view)) all += list.size();
  if (all <= steps.rows()) return std::nullopt;
  return fmt::format(
      "This is of the {} traced; 'throughput' and 'loader' say how long all {} that were recorded "
      "waited.",
      steps.rows() == 1 ? "step that was" : fmt::format("{} steps that were", steps.rows()), all);
}

Answer run_dataloader(const RunView& view, const Options&) {
  const auto partials = per_window<DataloaderPartial>(view, compute_dataloader);
  base::Table by_rank(kDataloaderTables[0]);
  base::Table steps(kDataloaderTables[1]);
  base::Table loaders(kDataloaderTables[2]);
  base::Table workers(kDataloaderTables[3]);
  std::map<std::int32_t, DataloaderRank> ranks;
  const std::vector<WorkerActivity> recorded = worker_activity(view);
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    add_window(window, partials[w], ranks[window.rank], steps, workers);
    add_recorded(window, recorded, workers);
  }
  for (auto& [number, rank] : ranks) {
    if (rank.steps == 0) continue;
    const auto if_known = [&](double value) { return rank.known ? Cell(value) : Cell(Null{}); };
    const bool has_both = rank.has_work && rank.known;
    by_rank.add({number, rank.steps, known(rank.known, rank.fetches), known(rank.known, rank.wait),
                 if_known(share_of(rank.wait, rank.whole)),
                 if_known(static_cast<double>(rank.wait) / static_cast<double>(rank.steps)),
                 known(rank.known, rank.longest), known(has_both, rank.busy),
                 known(has_both, rank.wait - rank.busy),
                 has_both ? Cell(share_of(rank.wait - rank.busy, rank.whole)) : Cell(Null{})});
    for (auto& [name, loader] : rank.loaders) {
      Durations& d = loader.fetches;
      loaders.add({number, name, d.count(), d.sum(), d.median(), d.percentile(0.95), d.max(),
                   share_of(loader.operators, d.sum())});
    }
  }
  Answer answer;
  if (auto sentence = why_no_steps(view); !sentence.empty()) answer.remarks.push_back(sentence);
  if (auto sentence = remark_dataloader(view, steps, loaders, workers))
    answer.remarks.push_back(*sentence);
  if (auto sentence = about_the_rest(view, steps)) answer.remarks.push_back(*sentence);
  if (!recorded.empty()) {
    answer.remarks.emplace_back(
        "The workers recorded themselves: 'loader' says which of them was late, and why.");
  }
  for (base::Table* table : {&by_rank, &steps, &loaders, &workers}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kDataloader{
    .name = "dataloader",
    .title = "Waiting for data",
    .question = "How long does the training loop wait for data, and is the GPU idle meanwhile?",
    .parameters = {},
    .tables = kDataloaderTables,
    .run = run_dataloader,
};

}  // namespace stepscope::analysis
