// Where the time of each step went, in parts that add up to it; how long steps take and which took
// much longer than usual.
#include <array>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/steps/step_parts.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kStepsDefinitions = {"stepscope", "tensorboard"};
constexpr std::array kStepsParameters = std::to_array<Parameter>({
    {"definition", ParameterType::kChoice, "stepscope",
     "whose rules: ours, or those of TensorBoard's PyTorch plugin", kStepsDefinitions},
    {"outlier-deviations", ParameterType::kCount, "5",
     "a step is an outlier when it is this many median deviations above the median"},
    {"outlier-share", ParameterType::kShare, "10%",
     "and at least this share of the median above it"},
});

constexpr base::ColumnShape kStepsStepTime{
    "step_ns", Type::kInt, Unit::kNanos,
    "wall time of the step, until the GPU work it started has ended"};

constexpr std::array kStepsStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    key::kStep,
    {"start_ns", Type::kInt, Unit::kInstant, "when it began"},
    {"host_ns", Type::kInt, Unit::kNanos, "how long the host was in the step"},
    kStepsStepTime,
    {"kernel_ns", Type::kInt, Unit::kNanos, "a computing kernel runs"},
    {"memcpy_ns", Type::kInt, Unit::kNanos, "no kernel, but a copy runs"},
    {"memset_ns", Type::kInt, Unit::kNanos, "none of these, but a memset runs"},
    {"communication_ns", Type::kInt, Unit::kNanos,
     "none of these, but the GPU or the host communicates"},
    {"runtime_ns", Type::kInt, Unit::kNanos,
     "none of these, but the host is in a call to the GPU: launches, waits, allocations"},
    {"dataloader_ns", Type::kInt, Unit::kNanos, "none of these, but the host waits for data"},
    {"cpu_exec_ns", Type::kInt, Unit::kNanos,
     "none of these, but the host runs an operator or a named range"},
    {"other_ns", Type::kInt, Unit::kNanos,
     "none of these: Python between operators, or what was not recorded"},
});

constexpr std::array kStepsPartColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"part", Type::kText, Unit::kNone, "as in the table of steps"},
    {"mean_ns", Type::kReal, Unit::kNanos, "per step"},
    {"share", Type::kReal, Unit::kShare, "of the time of all steps"},
    {"sum_ns", Type::kInt, Unit::kNanos, "all steps together"},
});

constexpr std::array kStepsTimeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"steps", Type::kInt, Unit::kCount, "how many steps"},
    {"mean_ns", Type::kReal, Unit::kNanos, ""},
    {"median_ns", Type::kInt, Unit::kNanos, "half of the steps were not longer"},
    {"p95_ns", Type::kInt, Unit::kNanos, "19 of 20 steps were not longer"},
    {"min_ns", Type::kInt, Unit::kNanos, "the shortest step"},
    {"max_ns", Type::kInt, Unit::kNanos, "the longest step"},
    {"sd_ns", Type::kReal, Unit::kNanos, "standard deviation of the sample"},
    {"steps_per_second", Type::kReal, Unit::kPerSecond,
     "from the start of the first to the end of the last step"},
});

constexpr std::array kOutlierColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    key::kStep,
    kStepsStepTime,
    {"median_ns", Type::kInt, Unit::kNanos, "of all steps of this rank"},
    {"excess_ns", Type::kInt, Unit::kNanos, "longer than the median by"},
    {"times_median", Type::kReal, Unit::kNone, "step time divided by the median"},
    {"grown_part", Type::kText, Unit::kNone, "the part that grew most over its own median"},
    {"grown_ns", Type::kInt, Unit::kNanos, "that part is longer than usual by"},
});

constexpr std::array<std::string_view, kPartCount> kStepsStacked = {
    "kernel_ns",  "memcpy_ns",     "memset_ns",   "communication_ns",
    "runtime_ns", "dataloader_ns", "cpu_exec_ns", "other_ns"};
constexpr std::array<std::string_view, 1> kStepsMean = {"mean_ns"};
constexpr std::array<std::string_view, 1> kExcess = {"excess_ns"};
constexpr std::array kStepsTables = std::to_array<base::TableShape>({
    {"parts",
     "one part of the average step of one rank",
     kStepsPartColumns,
     {base::Chart::kBars, "part", kStepsMean, "rank"}},
    {"times",
     "the step times of one rank",
     kStepsTimeColumns,
     {base::Chart::kBars, "rank", kStepsMean}},
    {"steps",
     "one step of one rank",
     kStepsStepColumns,
     {base::Chart::kStack, "step", kStepsStacked, "rank"}},
    {"outliers",
     "a step that took much longer than usual on its rank, the longest first",
     kOutlierColumns,
     {base::Chart::kBars, "step", kExcess, "rank"}},
});

void add_steps(base::Table& table, const RankSteps& rank) {
  for (const auto& [window, one] : rank.steps) {
    std::vector<base::Cell> row = {rank.rank,
                                   window,
                                   one.step.number,
                                   one.step.span.start,
                                   one.step.host.length(),
                                   one.step.span.length()};
    row.insert(row.end(), one.parts.begin(), one.parts.end());
    table.add(row);
  }
}

void add_steps_parts(base::Table& table, const RankSteps& rank) {
  const Parts sum = rank.sum();
  const auto all = static_cast<double>(rank.durations().sum());
  const auto count = static_cast<double>(rank.steps.size());
  for (std::size_t part = 0; part < kPartCount; ++part) {
    const auto length = static_cast<double>(sum[part]);
    table.add({rank.rank, kPartNames[part], length / count, length / all, sum[part]});
  }
}

void add_steps_times(base::Table& table, const RankSteps& rank) {
  Durations d = rank.durations();
  table.add({rank.rank, d.count(), d.mean(), d.median(), d.percentile(0.95), d.min(), d.max(),
             d.standard_deviation(), rank.per_second()});
}

void add_outliers(base::Table& table, const RankSteps& rank, const OutlierRule& rule) {
  for (const Outlier& outlier : outliers(rank, rule)) {
    const auto& [window, one] = rank.steps[outlier.index];
    const Nanos length = one.step.span.length();
    table.add({rank.rank, window, one.step.number, length, outlier.median, length - outlier.median,
               static_cast<double>(length) / static_cast<double>(outlier.median),
               kPartNames[outlier.grown], outlier.grown_by});
  }
}

Answer run_steps(const RunView& view, const Options& options) {
  const Definition definition =
      options.text("definition") == "tensorboard" ? Definition::kTensorboard : Definition::kOurs;
  const OutlierRule rule{.deviations = options.count("outlier-deviations"),
                         .share = options.share("outlier-share")};
  base::Table parts(kStepsTables[0]);
  base::Table times(kStepsTables[1]);
  base::Table steps(kStepsTables[2]);
  base::Table slow(kStepsTables[3]);
  for (const RankSteps& rank : steps_by_rank(view, definition)) {
    if (rank.steps.empty()) continue;
    add_steps_parts(parts, rank);
    add_steps_times(times, rank);
    add_steps(steps, rank);
    add_outliers(slow, rank, rule);
  }
  Answer answer;
  if (auto remark = why_no_steps(view); !remark.empty()) answer.remarks.push_back(remark);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  for (base::Table* table : {&parts, &times, &steps, &slow}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kSteps{
    .name = "steps",
    .title = "Step time",
    .question = "Where does the time of a step go, and which steps are slow?",
    .parameters = kStepsParameters,
    .tables = kStepsTables,
    .run = run_steps,
};

}  // namespace stepscope::analysis
