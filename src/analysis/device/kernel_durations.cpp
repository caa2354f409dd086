// How long the runs of each kernel were, and how that differs between ranks. A rank whose kernels
// are slower than everybody's is a slow device, whatever the job does.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/durations.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kKernelDurationsParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "names, those with most time over all ranks. 0: all"},
    {"memory", ParameterType::kSwitch, "false", "copies and memsets too"},
});

constexpr base::ColumnShape kKernelDurationsName{"name", Type::kText, Unit::kNone, "of the kernel"};
constexpr base::ColumnShape kClass{"class", Type::kText, Unit::kNone,
                                   "compute, communication, memcpy or memset"};
constexpr base::ColumnShape kKernelDurationsCount{"count", Type::kInt, Unit::kCount,
                                                  "how often it ran"};
constexpr base::ColumnShape kKernelDurationsSum{"sum_ns", Type::kInt, Unit::kNanos,
                                                "time it ran, all runs together"};
constexpr base::ColumnShape kKernelDurationsMean{"mean_ns", Type::kReal, Unit::kNanos,
                                                 "length of a run"};

constexpr std::array kNamesColumns = {
    kKernelDurationsName,
    kClass,
    base::ColumnShape{"ranks", Type::kInt, Unit::kCount, "ranks on which it ran"},
    kKernelDurationsCount,
    kKernelDurationsSum,
    kKernelDurationsMean,
    base::ColumnShape{"median_ns", Type::kInt, Unit::kNanos,
                      "half of all ranks' runs were not longer; within 1 %"},
    base::ColumnShape{"p95_ns", Type::kInt, Unit::kNanos,
                      "19 of 20 of all ranks' runs were not longer; within 1 %"},
    base::ColumnShape{"p99_ns", Type::kInt, Unit::kNanos,
                      "99 of 100 of all ranks' runs were not longer; within 1 %"},
    base::ColumnShape{"fastest_rank", Type::kInt, Unit::kId, "rank with the smallest mean"},
    base::ColumnShape{"fastest_mean_ns", Type::kReal, Unit::kNanos, "mean on that rank"},
    base::ColumnShape{"median_rank_mean_ns", Type::kReal, Unit::kNanos,
                      "the middle one of the ranks' means"},
    base::ColumnShape{"slowest_rank", Type::kInt, Unit::kId, "rank with the largest mean"},
    base::ColumnShape{"slowest_mean_ns", Type::kReal, Unit::kNanos, "mean on that rank"},
    base::ColumnShape{"slowest_ratio", Type::kReal, Unit::kNone,
                      "mean on the slowest rank as a multiple of the middle one"}};
constexpr std::array kRanksColumns = {
    key::kRank,
    kKernelDurationsName,
    kClass,
    kKernelDurationsCount,
    kKernelDurationsSum,
    kKernelDurationsMean,
    base::ColumnShape{"ratio", Type::kReal, Unit::kNone,
                      "mean as a multiple of the middle one of the ranks' means"}};
constexpr std::array kHistogramColumns = {
    kKernelDurationsName,
    kClass,
    base::ColumnShape{"from_ns", Type::kInt, Unit::kNanos, "runs at least this long"},
    base::ColumnShape{"to_ns", Type::kInt, Unit::kNanos, "and shorter than this"},
    kKernelDurationsCount,
    base::ColumnShape{"share", Type::kReal, Unit::kShare, "of the runs of this name"},
    kKernelDurationsSum};

constexpr std::array<std::string_view, 1> kKernelDurationsCountBar = {"count"};
constexpr std::array<std::string_view, 1> kRatioBar = {"ratio"};
constexpr std::array kKernelDurationsTables = std::to_array<base::TableShape>({
    {"names", "one name over all ranks, the longest first", kNamesColumns},
    {"ranks",
     "one of these names on one rank",
     kRanksColumns,
     {base::Chart::kBars, "rank", kRatioBar, "name"}},
    {"histogram",
     "runs of one of these names with lengths in one range, over all ranks",
     kHistogramColumns,
     {base::Chart::kHistogram, "from_ns", kKernelDurationsCountBar, "name"}},
});

// Ranges people read easily begin at 0, 1, 2, 5, 10, 20, 50, … The first is what lasted 0.
constexpr auto kRangeStarts = [] {
  std::array<Nanos, 56> starts = {0};
  Nanos decade = 1;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    constexpr std::array<Nanos, 3> kSteps = {1, 2, 5};
    starts[i] = kSteps[(i - 1) % 3] * decade;
    if (i % 3 == 0) decade *= 10;
  }
  return starts;
}();

std::size_t kernel_durations_range_of(Nanos length) {
  const auto* after = std::ranges::upper_bound(kRangeStarts, length);
  return std::min(static_cast<std::size_t>(after - kRangeStarts.begin()), kRangeStarts.size() - 1) -
         1;
}

struct KernelDurationsRange {
  std::uint64_t count = 0;
  Nanos sum = 0;
};

struct OnRank {
  std::uint64_t count = 0;
  Nanos sum = 0;
  double mean() const { return static_cast<double>(sum) / static_cast<double>(count); }
};

struct Lengths {
  OnRank all;
  LogHistogram fine;
  std::map<std::size_t, KernelDurationsRange> ranges;

  void add(Nanos length) {
    ++all.count;
    all.sum += length;
    fine.add(length);
    KernelDurationsRange& range = ranges[kernel_durations_range_of(length)];
    ++range.count;
    range.sum += length;
  }
  void merge(const Lengths& other) {
    all.count += other.all.count;
    all.sum += other.all.sum;
    fine.merge(other.fine);
    for (const auto& [key, range] : other.ranges) {
      ranges[key].count += range.count;
      ranges[key].sum += range.sum;
    }
  }
};

using KernelDurationsKey = std::pair<std::string_view, WorkClass>;
using KernelDurationsPartial = std::map<KernelDurationsKey, Lengths>;

KernelDurationsPartial compute_kernel_durations(const WindowView& window, bool with_memory) {
  std::unordered_map<std::uint64_t, Lengths> by_id;
  for (const Work& piece : window.work) {
    const bool memory = piece.work_class == WorkClass::kCopy || piece.work_class == WorkClass::kSet;
    if ((memory && !with_memory) || !window.counts(piece)) continue;
    const std::uint64_t id = std::uint64_t{window.trace->name()[piece.row]} << 8 |
                             static_cast<std::uint64_t>(piece.work_class);
    by_id[id].add(piece.length());
  }
  KernelDurationsPartial out;
  for (auto& [id, lengths] : by_id) {
    const auto name = static_cast<base::StringId>(id >> 8);
    out[{window.trace->text(name), static_cast<WorkClass>(id & 0xff)}].merge(lengths);
  }
  return out;
}

// One name over all ranks.
struct KernelDurationsLine {
  Lengths lengths;
  std::map<std::int32_t, OnRank> ranks;

  double median_mean() const {
    std::vector<double> means;
    means.reserve(ranks.size());
    for (const auto& [rank, on_rank] : ranks) means.push_back(on_rank.mean());
    std::ranges::sort(means);
    const std::size_t half = means.size() / 2;
    return means.size() % 2 == 1 ? means[half] : (means[half - 1] + means[half]) / 2;
  }
};

void add_kernel_durations_line(Answer& answer, const KernelDurationsKey& key,
                               const KernelDurationsLine& line) {
  const auto& [name, work_class] = key;
  const std::string_view sort = name_of(work_class);
  const double median = line.median_mean();
  const auto mean = [](const auto& entry) { return entry.second.mean(); };
  // Of equals the lowest rank.
  const auto fastest = std::ranges::min_element(line.ranks, {}, mean);
  const auto slowest = std::ranges::max_element(line.ranks, {}, mean);
  const Lengths& all = line.lengths;
  answer.tables[0].add({name, sort, line.ranks.size(), all.all.count, all.all.sum, all.all.mean(),
                        all.fine.percentile(0.5), all.fine.percentile(0.95),
                        all.fine.percentile(0.99), fastest->first, fastest->second.mean(), median,
                        slowest->first, slowest->second.mean(), slowest->second.mean() / median});
  for (const auto& [rank, on_rank] : line.ranks) {
    answer.tables[1].add(
        {rank, name, sort, on_rank.count, on_rank.sum, on_rank.mean(), on_rank.mean() / median});
  }
  for (const auto& [range, found] : all.ranges) {
    answer.tables[2].add({name, sort, kRangeStarts[range], kRangeStarts[range + 1], found.count,
                          static_cast<double>(found.count) / static_cast<double>(all.all.count),
                          found.sum});
  }
}

Answer run_kernel_durations(const RunView& view, const Options& options) {
  const bool with_memory = options.on("memory");
  const auto partials = per_window<KernelDurationsPartial>(view, [&](const WindowView& window) {
    return compute_kernel_durations(window, with_memory);
  });
  std::map<KernelDurationsKey, KernelDurationsLine> lines;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    for (const auto& [key, lengths] : partials[w]) {
      KernelDurationsLine& line = lines[key];
      line.lengths.merge(lengths);
      OnRank& rank = line.ranks[view.windows[w].rank];
      rank.count += lengths.all.count;
      rank.sum += lengths.all.sum;
    }
  }
  std::vector<const std::pair<const KernelDurationsKey, KernelDurationsLine>*> order;
  order.reserve(lines.size());
  for (const auto& line : lines) order.push_back(&line);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* line) { return line->second.lengths.all.sum; });
  const auto top = static_cast<std::size_t>(options.count("top"));
  Answer answer;
  if (top > 0 && order.size() > top) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("{} of {} names are listed; --top 0 lists all.", top, order.size())));
    order.resize(top);
  }
  for (const base::TableShape& shape : kKernelDurationsTables) answer.tables.emplace_back(shape);
  for (const auto* line : order) add_kernel_durations_line(answer, line->first, line->second);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

}  // namespace

const Analysis kKernelDurations{
    .name = "kernel-durations",
    .title = "Kernel durations",
    .question = "How much do the runs of a kernel differ, and is a rank slower than the others?",
    .parameters = kKernelDurationsParameters,
    .tables = kKernelDurationsTables,
    .run = run_kernel_durations,
};

}  // namespace stepscope::analysis
