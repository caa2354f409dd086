// The Time report: the ranges a program named, by nesting, and all of its steps, from what its
// processes recorded of themselves. Definitions: docs/metrics/time.md.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/durations.h"
#include "analysis/key_columns.h"
#include "analysis/recording/range_tree.h"
#include "analysis/recording/recorded_steps.h"
#include "analysis/recording/tracing_cost.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kTimeParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "40", "ranges per rank, the longest. 0: all"},
    {"depth", ParameterType::kCount, "0", "levels of ranges inside of ranges. 0: all"},
    {"slowest", ParameterType::kCount, "5", "slowest steps per rank. 0: all steps"},
});

constexpr base::ColumnShape kWhere{"where", Type::kText, Unit::kNone,
                                   "main thread, other threads, async tasks or worker processes"};
constexpr base::ColumnShape kTimeName{"range", Type::kText, Unit::kNone, "its name"};
constexpr base::ColumnShape kDepth{"depth", Type::kInt, Unit::kNone, "ranges around it"};
constexpr base::ColumnShape kPath{"path", Type::kText, Unit::kNone,
                                  "the ranges around it and itself"};

constexpr std::array kRangeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kWhere,
    kTimeName,
    {"calls", Type::kInt, Unit::kCount, "how often it was entered"},
    {"total_ns", Type::kInt, Unit::kNanos, "their lengths, added"},
    {"share", Type::kReal, Unit::kShare,
     "total_ns of the time recorded there; null: it goes on beyond that"},
    {"self_ns", Type::kInt, Unit::kNanos, "total_ns without the ranges inside"},
    {"mean_ns", Type::kReal, Unit::kNanos, "length of one that ended"},
    {"median_ns", Type::kInt, Unit::kNanos, "half of those that ended were not longer"},
    {"min_ns", Type::kInt, Unit::kNanos, "the shortest that ended"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest that ended"},
    {"open", Type::kInt, Unit::kCount,
     "still open when the recording ended: in total_ns up to there"},
    kDepth,
    kPath,
    {"cpu_ns", Type::kInt, Unit::kNanos,
     "processor time of their thread, in calls of 0.2 ms and more: far below total_ns, it waited; "
     "null: not noted"},
});

constexpr std::array kAcrossColumns = std::to_array<base::ColumnShape>({
    kWhere,
    kTimeName,
    {"ranks", Type::kInt, Unit::kCount, "that have it"},
    {"calls", Type::kInt, Unit::kCount, "on all of them"},
    {"mean_total_ns", Type::kReal, Unit::kNanos, "total time on a rank that has it"},
    {"min_total_ns", Type::kInt, Unit::kNanos, "on the rank with the least"},
    {"max_total_ns", Type::kInt, Unit::kNanos, "on the rank with the most"},
    {"slowest_rank", Type::kInt, Unit::kId, "the rank with the most"},
    {"slowest_ratio", Type::kReal, Unit::kNone, "max_total_ns divided by mean_total_ns"},
    kDepth,
    kPath,
});

constexpr std::array kTimesColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"steps", Type::kInt, Unit::kCount, "that were recorded, traced or not"},
    {"first_step", Type::kInt, Unit::kId, "the lowest number"},
    {"last_step", Type::kInt, Unit::kId, "the highest"},
    {"mean_ns", Type::kReal, Unit::kNanos, ""},
    {"median_ns", Type::kInt, Unit::kNanos, "half of the steps were not longer"},
    {"p95_ns", Type::kInt, Unit::kNanos, "19 of 20 steps were not longer"},
    {"min_ns", Type::kInt, Unit::kNanos, "the shortest step"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest step"},
    {"sd_ns", Type::kReal, Unit::kNanos, "standard deviation of the sample"},
    {"slowest_step", Type::kInt, Unit::kId, "number of the longest step"},
    {"traced_steps", Type::kInt, Unit::kCount, "during which a profiler traced"},
    {"traced_median_ns", Type::kInt, Unit::kNanos, "median of those"},
    {"untraced_median_ns", Type::kInt, Unit::kNanos, "median of the others"},
    {"tracing_cost_ns", Type::kReal, Unit::kNanos,
     "mean of traced steps less the mean of the others after warm-up; empty: not measurable, since "
     "the interval reaches down to 0"},
    {"tracing_low_ns", Type::kReal, Unit::kNanos, "where its 95 % interval begins"},
    {"tracing_high_ns", Type::kReal, Unit::kNanos, "where it ends"},
    {"torch_threads", Type::kInt, Unit::kCount,
     "that share the work of one operator of torch on the CPU; null: not recorded"},
    {"asked_threads", Type::kInt, Unit::kCount,
     "that OMP_NUM_THREADS or MKL_NUM_THREADS asks for; null: neither, or not recorded"},
});

constexpr base::ColumnShape kTimeStart{"start_ns", Type::kInt, Unit::kInstant,
                                       "when it began, since the first recording of the run began"};
constexpr base::ColumnShape kLength{
    "step_ns", Type::kInt, Unit::kNanos,
    "from the mark of the step before to its own, without declared validation"};
constexpr base::ColumnShape kTraced{"traced", Type::kBool, Unit::kNone,
                                    "a profiler traced meanwhile, which costs time"};
constexpr std::array kTimeStepColumns =
    std::to_array<base::ColumnShape>({key::kRank, key::kStep, kTimeStart, kLength, kTraced});
constexpr std::array kSlowestColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kStep,
    kTimeStart,
    kLength,
    {"times_median", Type::kReal, Unit::kNone, "step_ns divided by the median of its rank"},
    kTraced,
});

constexpr std::array<std::string_view, 1> kTotal = {"total_ns"};
constexpr std::array<std::string_view, 1> kMeanTotal = {"mean_total_ns"};
constexpr std::array<std::string_view, 1> kMedian = {"median_ns"};
constexpr std::array<std::string_view, 1> kTimeStepTime = {"step_ns"};
constexpr std::array kTimeTables = std::to_array<base::TableShape>({
    {"ranges",
     "a range below the one it was entered in, the longest first",
     kRangeColumns,
     {base::Chart::kTree, "range", kTotal, "rank"}},
    {"across",
     "the same range on all ranks; without rows for a single rank",
     kAcrossColumns,
     {base::Chart::kTree, "range", kMeanTotal}},
    {"times", "the steps of one rank", kTimesColumns, {base::Chart::kBars, "rank", kMedian}},
    {"steps",
     "one step of one rank",
     kTimeStepColumns,
     {base::Chart::kStack, "step", kTimeStepTime, "rank"}},
    {"slowest",
     "the steps of a rank that took longest",
     kSlowestColumns,
     {base::Chart::kBars, "step", kTimeStepTime, "rank"}},
});

struct TimeTables {
  base::Table ranges{kTimeTables[0]}, across{kTimeTables[1]}, times{kTimeTables[2]},
      steps{kTimeTables[3]}, slowest{kTimeTables[4]};

  std::vector<base::Table> take() {
    std::vector<base::Table> list;
    for (base::Table* table : {&ranges, &across, &times, &steps, &slowest}) {
      list.push_back(std::move(*table));
    }
    return list;
  }
};

std::map<std::int32_t, RangeTree> trees_by_rank(const RunView& view) {
  std::vector<RangeTree> partials(view.recordings.size());
  base::parallel_for(partials.size(), view.threads,
                     [&](std::size_t i) { partials[i] = range_tree(view.recordings[i]); });
  std::map<std::int32_t, RangeTree> ranks;
  for (std::size_t i = 0; i < partials.size(); ++i) {
    ranks[view.recordings[i].rank].merge(partials[i]);
  }
  return ranks;
}

void add_ranges(base::Table& table, std::int32_t rank, RangeTree& tree,
                const std::vector<ListedRange>& listed) {
  const base::Cell none = base::Null{};
  for (const ListedRange& one : listed) {
    RangeNode& node = tree.nodes()[one.node];
    const RangeSite site = tree.site_of(one.node);
    const Nanos recorded = tree.recorded[static_cast<std::size_t>(site)];
    const bool ended = node.ended.count() > 0;
    table.add({rank, name_of(site), node.name, node.calls, node.total,
               recorded > 0 && node.total <= recorded
                   ? base::Cell(static_cast<double>(node.total) / static_cast<double>(recorded))
                   : none,
               node.self, ended ? base::Cell(node.ended.mean()) : none,
               ended ? base::Cell(node.ended.median()) : none,
               ended ? base::Cell(node.ended.min()) : none,
               ended ? base::Cell(node.ended.max()) : none, node.open, node.depth - 1, one.path,
               node.clocked > 0 ? base::Cell(node.cpu) : none});
  }
}

void add_across(base::Table& table, const std::map<std::int32_t, RangeTree>& ranks,
                const RangeLimits& limits) {
  RangeTree all;
  for (const auto& [rank, tree] : ranks) all.merge(tree);
  const std::vector<RangeOverRanks> over = over_ranks(all, ranks);
  for (const ListedRange& one : list_ranges(all, limits).rows) {
    const RangeNode& node = all.nodes()[one.node];
    const RangeOverRanks& sums = over[one.node];
    const double mean = static_cast<double>(node.total) / static_cast<double>(sums.ranks);
    table.add({name_of(all.site_of(one.node)), node.name, sums.ranks, node.calls, mean, sums.least,
               sums.most, sums.slowest, static_cast<double>(sums.most) / mean, node.depth - 1,
               one.path});
  }
}

// By rank, as the training process noted it after its first step.
std::map<std::int32_t, std::int64_t> noted_once(const RunView& view, std::string_view what) {
  std::map<std::int32_t, std::int64_t> out;
  for (const WindowView& recording : view.recordings) {
    const trace::Trace& trace = *recording.trace;
    if (trace.header().process_record->is_worker) continue;
    const trace::CounterTable& counters = trace.counters();
    for (std::size_t i = 0; i < counters.row.size(); ++i) {
      if (trace.name_text(counters.row[i]) != what) continue;
      out[recording.rank] = static_cast<std::int64_t>(counters.value[i]);
      break;
    }
  }
  return out;
}

void add_time_steps(TimeTables& tables, std::int32_t rank, const std::vector<RecordedStep>& steps,
                    std::size_t slowest, base::Cell threads, base::Cell asked) {
  Durations all;
  Durations traced;
  Durations untraced;
  std::vector<const RecordedStep*> order;
  std::int64_t first = steps.front().number;
  std::int64_t last = first;
  for (const RecordedStep& step : steps) {
    all.add(step.length);
    (step.traced ? traced : untraced).add(step.length);
    first = std::min(first, step.number);
    last = std::max(last, step.number);
    order.push_back(&step);
    tables.steps.add({rank, step.number, step.start, step.length, step.traced});
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const RecordedStep* step) { return step->length; });
  const auto median_of = [](Durations& of) {
    return of.count() == 0 ? base::Cell(base::Null{}) : base::Cell(of.median());
  };
  const Nanos median = all.median();
  const auto cost = tracing_cost(steps);
  tables.times.add({rank, all.count(), first, last, all.mean(), median, all.percentile(0.95),
                    all.min(), all.max(), all.standard_deviation(), order.front()->number,
                    traced.count(), median_of(traced), median_of(untraced),
                    cost && cost->is_measurable() ? base::Cell(cost->ns) : base::Cell(base::Null{}),
                    cost ? base::Cell(cost->low_ns) : base::Cell(base::Null{}),
                    cost ? base::Cell(cost->high_ns) : base::Cell(base::Null{}), std::move(threads),
                    std::move(asked)});
  const std::size_t shown = slowest == 0 ? order.size() : std::min(slowest, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RecordedStep& step = *order[i];
    tables.slowest.add({rank, step.number, step.start, step.length,
                        static_cast<double>(step.length) / static_cast<double>(median),
                        step.traced});
  }
}

Answer run_time(const RunView& view, const Options& options) {
  const RangeLimits limits{.top = static_cast<std::size_t>(options.count("top")),
                           .depth = static_cast<std::size_t>(options.count("depth"))};
  Answer answer;
  TimeTables tables;
  std::map<std::int32_t, RangeTree> ranks = trees_by_rank(view);
  std::size_t left_out = 0;
  std::uint64_t open = 0;
  for (auto& [rank, tree] : ranks) {
    const RangeListing listing = list_ranges(tree, limits);
    add_ranges(tables.ranges, rank, tree, listing.rows);
    left_out = std::max(left_out, listing.left_out);
    for (const RangeNode& node : tree.nodes()) open += node.open;
  }
  if (ranks.size() > 1) add_across(tables.across, ranks, limits);
  const auto steps = recorded_steps(view);
  const auto threads = noted_once(view, "torch threads");
  const auto asked = noted_once(view, "asked threads");
  const auto cell_of = [](const std::map<std::int32_t, std::int64_t>& by_rank, std::int32_t rank) {
    const auto known = by_rank.find(rank);
    return known == by_rank.end() ? base::Cell(base::Null{}) : base::Cell(known->second);
  };
  for (const auto& [rank, list] : steps) {
    add_time_steps(tables, rank, list, static_cast<std::size_t>(options.count("slowest")),
                   cell_of(threads, rank), cell_of(asked, rank));
  }
  if (!steps.empty()) {
    if (const auto cost = tracing_cost(steps.begin()->second)) {
      answer.remarks.push_back(Remark::on_table("times", tracing_cost_text(*cost)));
    }
  }
  if (tables.ranges.rows() == 0) {
    answer.remarks.push_back(Remark::on_table(
        "ranges", "No ranges were recorded: mark them with stepscope.range(\"name\")."));
  }
  if (steps.empty()) {
    answer.remarks.push_back(Remark::on_table(
        "times", is_of_program(view)
                     ? "No training was seen in this program, so that it has no steps."
                     : "No steps were recorded: call step() of stepscope.profile after each."));
  }
  if (open > 0) {
    answer.remarks.push_back(Remark::on_table(
        "ranges", fmt::format("{} still open when the recording ended; {} time counts up to there.",
                              open == 1 ? "1 range was" : fmt::format("{} ranges were", open),
                              open == 1 ? "its" : "their")));
  }
  if (left_out > 0) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("--top or --depth left out up to {} ranges of a rank, whose time is in the "
                    "ranges around them; --top 0 --depth 0 lists all.",
                    left_out)));
  }
  answer.tables = tables.take();
  return answer;
}

}  // namespace

const Analysis kTime{
    .name = "time",
    .title = "Time by range",
    .question = "Where does the program say its time goes, and how long does every step take?",
    .parameters = kTimeParameters,
    .tables = kTimeTables,
    .run = run_time,
    .needs = Needs::kRecording,
};

}  // namespace stepscope::analysis
