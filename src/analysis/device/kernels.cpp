// The kernels by name: how often, how long, how much of the device's kernel time.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>

#include "analysis/analysis.h"
#include "analysis/arithmetic/durations.h"
#include "analysis/key_columns.h"
#include "analysis/known_occupancy.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kKernelsParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "names per rank; the rest is one row. 0: all"},
    {"memory", ParameterType::kSwitch, "false", "list copies and memsets too"},
});

constexpr std::array kKernelsColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"name", Type::kText, Unit::kNone, "of the kernel; null: all the others together"},
    {"class", Type::kText, Unit::kNone, "compute, communication, memcpy or memset"},
    {"count", Type::kInt, Unit::kCount, "how often it ran"},
    {"sum_ns", Type::kInt, Unit::kNanos, "time it ran, all runs together"},
    {"share", Type::kReal, Unit::kShare, "of the time of all rows of this rank"},
    {"mean_ns", Type::kReal, Unit::kNanos, "length of a run"},
    {"min_ns", Type::kInt, Unit::kNanos, "the shortest run"},
    {"p5_ns", Type::kInt, Unit::kNanos, "1 of 20 runs was not longer"},
    {"p25_ns", Type::kInt, Unit::kNanos, "1 of 4 runs was not longer"},
    {"median_ns", Type::kInt, Unit::kNanos, "half of the runs were not longer"},
    {"p75_ns", Type::kInt, Unit::kNanos, "3 of 4 runs were not longer"},
    {"p95_ns", Type::kInt, Unit::kNanos, "19 of 20 runs were not longer"},
    {"p99_ns", Type::kInt, Unit::kNanos, "99 of 100 runs were not longer"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest run"},
    {"sd_ns", Type::kReal, Unit::kNanos, "standard deviation of the sample"},
    {"blocks_per_sm", Type::kReal, Unit::kNone,
     "blocks for each multiprocessor, mean over its time; below 1 some have nothing to do"},
    {"occupancy_share", Type::kReal, Unit::kShare,
     "of the warps a multiprocessor can hold, as the profiler estimates it; mean over its time; "
     "null: it does not tell"},
});
constexpr std::array<std::string_view, 1> kKernelsBar = {"sum_ns"};
constexpr std::array kKernelsTables = std::to_array<base::TableShape>({
    {"kernels",
     "one name on one rank, the longest first",
     kKernelsColumns,
     {base::Chart::kBars, "name", kKernelsBar, "rank"}},
});

// A mean weighed with time, over what is known.
struct Weighed {
  double sum = 0;
  Nanos time = 0;
  void add(float value, Nanos length) {
    if (!std::isfinite(value)) return;
    sum += static_cast<double>(value) * static_cast<double>(length);
    time += length;
  }
  void merge(const Weighed& other) {
    sum += other.sum;
    time += other.time;
  }
  double mean() const { return sum / static_cast<double>(time); }  // NaN: null in a table
};

struct KernelsGroup {
  Durations durations;
  Weighed blocks_per_sm, occupancy_percent;
  void merge(const KernelsGroup& other) {
    durations.merge(other.durations);
    blocks_per_sm.merge(other.blocks_per_sm);
    occupancy_percent.merge(other.occupancy_percent);
  }
};

using KernelsKey = std::pair<std::string_view, WorkClass>;
using KernelsPartial = std::map<KernelsKey, KernelsGroup>;

KernelsPartial compute_kernels(const WindowView& window, bool with_memory) {
  // By number first: a text per event would be compared millions of times.
  std::unordered_map<std::uint64_t, KernelsGroup> by_id;
  const trace::KernelTable& kernels = window.trace->kernels();
  for (const Work& piece : window.work) {
    const bool memory = piece.work_class == WorkClass::kCopy || piece.work_class == WorkClass::kSet;
    if ((memory && !with_memory) || !window.counts(piece)) continue;
    const std::uint64_t id = std::uint64_t{window.trace->name()[piece.row]} << 8 |
                             static_cast<std::uint64_t>(piece.work_class);
    KernelsGroup& group = by_id[id];
    group.durations.add(piece.length());
    if (const std::uint32_t entry = kernels.rows.find(piece.row); entry != base::RowSet::kNone) {
      group.blocks_per_sm.add(kernels.blocks_per_sm[entry], piece.length());
      group.occupancy_percent.add(known_occupancy(kernels, entry), piece.length());
    }
  }
  KernelsPartial out;
  for (auto& [id, group] : by_id) {
    const auto name = static_cast<base::StringId>(id >> 8);
    out[{window.trace->text(name), static_cast<WorkClass>(id & 0xff)}].merge(group);
  }
  return out;
}

struct KernelsLine {
  KernelsKey key;
  KernelsGroup* group;
  Nanos sum;
};

void add_kernels_line(base::Table& table, std::int32_t rank, base::Cell name, base::Cell work_class,
                      KernelsGroup& group, Nanos all) {
  Durations& d = group.durations;
  const Nanos sum = d.sum();
  table.add({rank, name, work_class, d.count(), sum,
             static_cast<double>(sum) / static_cast<double>(all), d.mean(), d.min(),
             d.percentile(0.05), d.percentile(0.25), d.median(), d.percentile(0.75),
             d.percentile(0.95), d.percentile(0.99), d.max(), d.standard_deviation(),
             group.blocks_per_sm.mean(), group.occupancy_percent.mean() / 100});
}

void add_kernels_rank(base::Table& table, std::int32_t rank, KernelsPartial& groups,
                      std::size_t top) {
  std::vector<KernelsLine> lines;
  Nanos all = 0;
  for (auto& [key, group] : groups) {
    lines.push_back({key, &group, group.durations.sum()});
    all += lines.back().sum;
  }
  std::ranges::stable_sort(lines, std::ranges::greater{}, &KernelsLine::sum);
  // One name more costs no more lines than "the others" would.
  const bool fits = top == 0 || lines.size() <= top + 1;
  const std::size_t shown = fits ? lines.size() : top;
  for (std::size_t i = 0; i < shown; ++i) {
    add_kernels_line(table, rank, lines[i].key.first, name_of(lines[i].key.second), *lines[i].group,
                     all);
  }
  if (fits) return;
  KernelsGroup rest;
  for (std::size_t i = shown; i < lines.size(); ++i) rest.merge(*lines[i].group);
  add_kernels_line(table, rank, base::Null{}, base::Null{}, rest, all);
}

Answer run_kernels(const RunView& view, const Options& options) {
  const bool with_memory = options.on("memory");
  auto partials = per_window<KernelsPartial>(
      view, [&](const WindowView& window) { return compute_kernels(window, with_memory); });
  std::map<std::int32_t, KernelsPartial> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    for (auto& [key, group] : partials[w]) ranks[view.windows[w].rank][key].merge(group);
  }
  base::Table table(kKernelsTables[0]);
  for (auto& [rank, groups] : ranks) {
    add_kernels_rank(table, rank, groups, static_cast<std::size_t>(options.count("top")));
  }
  Answer answer;
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  answer.tables.push_back(std::move(table));
  return answer;
}

}  // namespace

const Analysis kKernels{
    .name = "kernels",
    .title = "Kernels",
    .question = "Which kernels take the GPU's time?",
    .parameters = kKernelsParameters,
    .tables = kKernelsTables,
    .run = run_kernels,
};

}  // namespace stepscope::analysis
