// How fast a run trains and validates: iterations and samples a second, over time and in all,
// without the warm-up and without the steps a profiler slowed. Definitions:
// docs/metrics/throughput.md.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/loading/iterations.h"
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

constexpr std::array kThroughputParameters = std::to_array<Parameter>({
    {"points", ParameterType::kCount, "100",
     "stretches of time in the curve of each phase. 0: no curve"},
});

constexpr base::ColumnShape kThroughputPhase{
    "phase", Type::kText, Unit::kNone,
    "training, validation, … as named, or by a range around the loop"};
constexpr base::ColumnShape kThroughputPerSecond{
    "iterations_per_second", Type::kReal, Unit::kPerSecond, "iterations over the time they took"};
constexpr base::ColumnShape kSamplesPerSecond{
    "samples_per_second", Type::kReal, Unit::kPerSecond,
    "samples over the time of those iterations; empty: not known"};
constexpr base::ColumnShape kWaitShare{
    "wait_share", Type::kReal, Unit::kShare,
    "of that time: the loop waited for data; empty: no loader was watched"};

constexpr std::array kThroughputPhaseColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kThroughputPhase,
    {"iterations", Type::kInt, Unit::kCount, "steps, or batches where no step is marked"},
    {"warm_up", Type::kInt, Unit::kCount, "of them at the beginning, left out of what follows"},
    {"traced", Type::kInt, Unit::kCount,
     "slowed by a profiler; left out too, unless nothing else is left"},
    {"measured", Type::kInt, Unit::kCount, "that are left"},
    kThroughputPerSecond,
    {"median_per_second", Type::kReal, Unit::kPerSecond, "one second over the median iteration"},
    {"low_per_second", Type::kReal, Unit::kPerSecond,
     "one second over the iteration that 19 of 20 are not longer than"},
    {"spread", Type::kReal, Unit::kNone,
     "standard deviation of their lengths, divided by the mean length"},
    kSamplesPerSecond,
    {"samples", Type::kInt, Unit::kCount, "in the measured iterations; empty: not known"},
    kWaitShare,
    {"loader_per_second", Type::kReal, Unit::kPerSecond,
     "batches a second the loaders of this phase can make; empty: how they are made is not known"},
    {"warm_up_traced", Type::kInt, Unit::kCount,
     "of traced: those of the warm-up, which are in warm_up, too"},
});
constexpr std::array kJobColumns = std::to_array<base::ColumnShape>({
    kThroughputPhase,
    {"ranks", Type::kInt, Unit::kCount, "that have it"},
    {"iterations_per_second", Type::kReal, Unit::kPerSecond, "mean of the ranks"},
    {"slowest_per_second", Type::kReal, Unit::kPerSecond, "of the slowest rank"},
    {"slowest_rank", Type::kInt, Unit::kId, "of several the lowest"},
    {"samples_per_second", Type::kReal, Unit::kPerSecond,
     "all ranks together; empty: not known for all"},
    {"batches_per_second", Type::kReal, Unit::kPerSecond,
     "mean of the ranks: a step may take several; empty: no loader was watched"},
});
constexpr std::array kSeriesColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kThroughputPhase,
    {"start_ns", Type::kInt, Unit::kInstant,
     "beginning of the stretch, since the first recording of the run began"},
    {"iterations", Type::kInt, Unit::kCount, "that began in it, all of them"},
    kThroughputPerSecond,
    kSamplesPerSecond,
    kWaitShare,
});

constexpr std::array kSaveColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"saves", Type::kInt, Unit::kCount, "of checkpoints; they are part of no step"},
    {"save_ns", Type::kInt, Unit::kNanos, "that training stood still for them, together"},
    {"save_share", Type::kReal, Unit::kShare, "of the time of all steps and saves"},
    {"mean_ns", Type::kReal, Unit::kNanos, "of a save"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest save"},
});

constexpr std::array<std::string_view, 1> kThroughputRate = {"iterations_per_second"};
constexpr std::array kThroughputTables = std::to_array<base::TableShape>({
    {"phases",
     "one phase of one rank",
     kThroughputPhaseColumns,
     {base::Chart::kBars, "phase", kThroughputRate, "rank"}},
    {"job", "one phase of all ranks", kJobColumns, {base::Chart::kBars, "phase", kThroughputRate}},
    {"series",
     "a stretch of time of one phase of one rank",
     kSeriesColumns,
     {base::Chart::kLine, "start_ns", kThroughputRate, "phase"}},
    {"saves", "the checkpoints that one rank saved; without rows where none was seen",
     kSaveColumns},
});

constexpr double kSecond = 1e9;

// Iterations put together.
struct ThroughputSums {
  Durations lengths = {};
  Nanos wait_ns = 0;
  std::int64_t samples = 0, batches = 0;
  bool samples_known = true, wait_known = true, batches_known = true;

  void add(const Iteration& one) {
    lengths.add(one.length);
    wait_ns += one.wait_ns.value_or(0);
    wait_known &= one.wait_ns.has_value();
    samples += one.samples.value_or(0);
    samples_known &= one.samples.has_value();
    batches += one.batches.value_or(0);
    batches_known &= one.batches.has_value();
  }
  Cell per_second(std::int64_t amount) const {
    if (lengths.sum() <= 0) return Null{};
    return kSecond * static_cast<double>(amount) / static_cast<double>(lengths.sum());
  }
  Cell iterations_per_second() const {
    return per_second(static_cast<std::int64_t>(lengths.count()));
  }
  Cell samples_per_second() const {
    return samples_known && lengths.count() > 0 ? per_second(samples) : Cell(Null{});
  }
  Cell wait_share() const {
    if (lengths.sum() <= 0 || !wait_known) return Null{};
    return static_cast<double>(wait_ns) / static_cast<double>(lengths.sum());
  }
};

Cell one_over(Nanos length) {
  return length <= 0 ? Cell(Null{}) : Cell(kSecond / static_cast<double>(length));
}

struct Measured {
  std::size_t warm_up = 0, traced = 0;
  std::size_t warm_up_traced = 0;  // counted in both
  ThroughputSums sums = {};
};

// If a profiler traced all of them, they are all there is.
Measured measure(const std::vector<Iteration>& list) {
  Measured out;
  std::vector<Nanos> lengths;
  std::vector<bool> is_traced;
  for (const Iteration& one : list) {
    lengths.push_back(one.length);
    is_traced.push_back(one.traced);
  }
  out.warm_up = warm_up(lengths, is_traced);
  const auto rest = std::span(list).subspan(out.warm_up);
  const auto traced = [](std::span<const Iteration> some) {
    return static_cast<std::size_t>(std::ranges::count(some, true, &Iteration::traced));
  };
  out.traced = traced(list);
  out.warm_up_traced = out.traced - traced(rest);
  const bool is_all = traced(rest) == rest.size();
  for (const Iteration& one : rest) {
    if (is_all || !one.traced) out.sums.add(one);
  }
  return out;
}

// Loaders of a phase, together.
std::map<std::string, double> capacities(const RankLoading* loading) {
  std::map<std::string, double> out;
  if (loading == nullptr) return out;
  for (const auto& [key, sums] : loader_sums(*loading, {}, 0)) {
    if (const auto one = sums.capacity()) out[key.phase] += *one;
  }
  return out;
}

struct JobPhase {
  std::int64_t ranks = 0;
  double sum = 0, slowest = 0, samples = 0, batches = 0;
  std::int32_t slowest_rank = 0;
  bool samples_known = true, batches_known = true;

  void add(std::int32_t rank, double rate, const ThroughputSums& sums) {
    if (ranks == 0 || rate < slowest) {
      slowest = rate;
      slowest_rank = rank;
    }
    ++ranks;
    sum += rate;
    samples_known &= sums.samples_known;
    const auto per_second = [&](std::int64_t amount) {
      return kSecond * static_cast<double>(amount) / static_cast<double>(sums.lengths.sum());
    };
    samples += per_second(sums.samples);
    batches_known &= sums.batches_known && sums.batches > 0;
    batches += per_second(sums.batches);
  }
};

void add_series(base::Table& table, std::int32_t rank, const std::string& phase,
                const std::vector<Iteration>& list, std::int64_t points) {
  const Nanos first = list.front().start;
  Nanos last = first + 1;
  for (const Iteration& one : list) last = std::max(last, one.start + one.length);
  if (points == 0) return;
  const Nanos stretch = std::max<Nanos>(1, (last - first + points - 1) / points);
  for (std::size_t i = 0; i < list.size();) {
    const std::int64_t number = (list[i].start - first) / stretch;
    ThroughputSums sums;
    for (; i < list.size() && (list[i].start - first) / stretch == number; ++i) sums.add(list[i]);
    table.add({rank, phase, first + number * stretch, sums.lengths.count(),
               sums.iterations_per_second(), sums.samples_per_second(), sums.wait_share()});
  }
}

void add_throughput_phase(base::Table& table, std::int32_t rank, const std::string& phase,
                          std::size_t iterations, Measured& measured, Cell capacity) {
  ThroughputSums& sums = measured.sums;
  Durations& lengths = sums.lengths;
  const double mean = lengths.mean();
  table.add({rank, phase, iterations, measured.warm_up, measured.traced, lengths.count(),
             sums.iterations_per_second(), one_over(lengths.median()),
             one_over(lengths.percentile(0.95)),
             mean > 0 ? Cell(lengths.standard_deviation() / mean) : Cell(Null{}),
             sums.samples_per_second(), sums.samples_known ? Cell(sums.samples) : Cell(Null{}),
             sums.wait_share(), capacity, measured.warm_up_traced});
}

bool reads_ahead(const RankLoading& loading) {
  return std::ranges::any_of(
      loading.waits, [](const BatchWait& wait) { return wait.beside && wait.phase == kTraining; });
}

void add_saves(base::Table& table, const RunView& view,
               const std::map<std::int32_t, std::vector<RecordedStep>>& steps) {
  for (const auto& [rank, lengths] : recorded_saves(view)) {
    const auto found = steps.find(rank);
    if (found == steps.end() || lengths.count() == 0) continue;
    Nanos all = lengths.sum();
    for (const RecordedStep& step : found->second) all += step.length;
    table.add({rank, lengths.count(), lengths.sum(),
               all > 0 ? Cell(static_cast<double>(lengths.sum()) / static_cast<double>(all))
                       : Cell(Null{}),
               lengths.mean(), lengths.max()});
  }
}

Answer run_throughput(const RunView& view, const Options& options) {
  base::Table phases(kThroughputTables[0]);
  base::Table job(kThroughputTables[1]);
  base::Table series(kThroughputTables[2]);
  base::Table saves(kThroughputTables[3]);
  const auto loading = loading_by_rank(view);
  const auto steps = recorded_steps(view);
  std::map<std::int32_t, std::map<std::string, std::vector<Iteration>>> ranks;
  for (const auto& [rank, one] : loading) {
    const auto found = steps.find(rank);
    ranks[rank] =
        iterations_of(&one, found == steps.end() ? std::vector<RecordedStep>() : found->second);
  }
  for (const auto& [rank, list] : steps) {
    if (!loading.contains(rank)) ranks[rank] = iterations_of(nullptr, list);
  }
  std::map<std::string, JobPhase> all;
  bool hides_samples = false;
  for (const auto& [rank, by_phase] : ranks) {
    const auto found = loading.find(rank);
    const auto capacity = capacities(found == loading.end() ? nullptr : &found->second);
    for (const auto& [phase, list] : by_phase) {
      Measured measured = measure(list);
      if (measured.sums.lengths.sum() <= 0) continue;
      hides_samples |= !measured.sums.batches_known && found != loading.end() &&
                       phase == kTraining && reads_ahead(found->second);
      const auto can = capacity.find(phase);
      add_throughput_phase(phases, rank, phase, list.size(), measured,
                           can == capacity.end() ? Cell(Null{}) : Cell(can->second));
      add_series(series, rank, phase, list, options.count("points"));
      all[phase].add(rank,
                     kSecond * static_cast<double>(measured.sums.lengths.count()) /
                         static_cast<double>(measured.sums.lengths.sum()),
                     measured.sums);
    }
  }
  for (const auto& [phase, one] : all) {
    job.add(
        {phase, one.ranks, one.sum / static_cast<double>(one.ranks), one.slowest, one.slowest_rank,
         one.samples_known ? Cell(one.samples) : Cell(Null{}),
         one.batches_known ? Cell(one.batches / static_cast<double>(one.ranks)) : Cell(Null{})});
  }
  Answer answer;
  if (phases.rows() == 0) {
    answer.remarks.emplace_back(
        is_of_program(view)
            ? "No training was seen in this program, so that it has no steps and no batches."
            : "No steps and no batches were recorded: call prof.step() at the end of each step, "
              "and iterate over prof.watch(loader).");
  }
  if (hides_samples) {
    answer.remarks.emplace_back(
        "Samples a second of the training are not known: a thread reads ahead of the loop, and "
        "which of its batches a step used does not follow from their numbers. Watch what the loop "
        "iterates over.");
  }
  add_saves(saves, view, steps);
  for (base::Table* table : {&phases, &job, &series, &saves})
    answer.tables.push_back(std::move(*table));
  return answer;
}

}  // namespace

const Analysis kThroughput{
    .name = "throughput",
    .title = "Throughput",
    .question = "How many iterations and samples a second, in training and validation?",
    .parameters = kThroughputParameters,
    .tables = kThroughputTables,
    .run = run_throughput,
    .needs = Needs::kRecording,
};

}  // namespace stepscope::analysis
