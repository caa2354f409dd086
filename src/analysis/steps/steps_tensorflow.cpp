// The steps in the categories of TensorFlow's profiler, for people who come from there.
#include <array>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/steps/tensorflow_parts.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kStepsTensorflowPartColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"part", Type::kText, Unit::kNone, "as in the table of steps"},
    {"mean_ns", Type::kReal, Unit::kNanos, "per step"},
    {"share", Type::kReal, Unit::kShare, "of the time of all steps"},
    {"sum_ns", Type::kInt, Unit::kNanos, "all steps together"},
});

constexpr std::array kStepsTensorflowStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    key::kStep,
    {"step_ns", Type::kInt, Unit::kNanos,
     "wall time of the step, until the GPU work it started has ended"},
    {"compute_16bit_ns", Type::kInt, Unit::kNanos,
     "a kernel on numbers of 16 bits or fewer runs, as far as its name says"},
    {"compute_32bit_ns", Type::kInt, Unit::kNanos, "else, a kernel on wider numbers runs"},
    {"compute_unknown_ns", Type::kInt, Unit::kNanos,
     "else, a kernel runs whose name does not say what it computes with"},
    {"device_to_device_ns", Type::kInt, Unit::kNanos,
     "else, memory is copied or set on or between GPUs"},
    {"collectives_ns", Type::kInt, Unit::kNanos, "else, ranks communicate"},
    {"host_compute_ns", Type::kInt, Unit::kNanos,
     "no GPU works and the host runs operators, ranges or other calls"},
    {"kernel_launch_ns", Type::kInt, Unit::kNanos,
     "no GPU works and the host hands it something to do"},
    {"input_ns", Type::kInt, Unit::kNanos,
     "the host waits for data, or data is copied to a GPU that does nothing else"},
    {"output_ns", Type::kInt, Unit::kNanos,
     "results are copied to the host and the GPU does not compute"},
    {"compilation_ns", Type::kInt, Unit::kNanos, "the host compiles or loads code"},
    {"other_ns", Type::kInt, Unit::kNanos, "none of these: nobody recorded what happened"},
});

constexpr std::array<std::string_view, kTensorflowPartCount> kStepsTensorflowStacked = {
    "compute_16bit_ns",    "compute_32bit_ns", "compute_unknown_ns",
    "device_to_device_ns", "collectives_ns",   "host_compute_ns",
    "kernel_launch_ns",    "input_ns",         "output_ns",
    "compilation_ns",      "other_ns"};
constexpr std::array<std::string_view, 1> kStepsTensorflowMean = {"mean_ns"};
constexpr std::array kStepsTensorflowTables = std::to_array<base::TableShape>({
    {"parts",
     "one part of the average step of one rank",
     kStepsTensorflowPartColumns,
     {base::Chart::kBars, "part", kStepsTensorflowMean, "rank"}},
    {"steps",
     "one step of one rank",
     kStepsTensorflowStepColumns,
     {base::Chart::kStack, "step", kStepsTensorflowStacked, "rank"}},
});

struct RankSum {
  std::int32_t rank = 0;
  std::size_t steps = 0;
  Nanos whole = 0;
  TensorflowParts parts{};
};

void add_steps_tensorflow_parts(base::Table& table, const RankSum& sum) {
  for (std::size_t part = 0; part < kTensorflowPartCount; ++part) {
    const auto length = static_cast<double>(sum.parts[part]);
    table.add({sum.rank, kTensorflowPartNames[part], length / static_cast<double>(sum.steps),
               length / static_cast<double>(sum.whole), sum.parts[part]});
  }
}

Answer run_steps_tensorflow(const RunView& view, const Options&) {
  const auto partials = per_window<std::vector<TensorflowStep>>(view, tensorflow_parts);
  base::Table parts(kStepsTensorflowTables[0]);
  base::Table steps(kStepsTensorflowTables[1]);
  std::vector<RankSum> sums;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    if (partials[w].empty()) continue;
    if (sums.empty() || sums.back().rank != window.rank) sums.emplace_back().rank = window.rank;
    for (const TensorflowStep& one : partials[w]) {
      std::vector<base::Cell> row = {window.rank, window.window, one.step.number,
                                     one.step.span.length()};
      row.insert(row.end(), one.parts.begin(), one.parts.end());
      steps.add(row);
      sums.back().steps += 1;
      sums.back().whole += one.step.span.length();
      for (std::size_t i = 0; i < one.parts.size(); ++i) sums.back().parts[i] += one.parts[i];
    }
  }
  for (const RankSum& sum : sums) add_steps_tensorflow_parts(parts, sum);
  Answer answer;
  if (auto remark = why_no_steps(view); !remark.empty()) answer.remarks.push_back(remark);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  answer.tables.push_back(std::move(parts));
  answer.tables.push_back(std::move(steps));
  return answer;
}

}  // namespace

const Analysis kStepsTensorflow{
    .name = "steps-tensorflow",
    .title = "Step time as TensorFlow splits it",
    .question = "Where does the time of a step go, in the words of TensorFlow's profiler?",
    .parameters = {},
    .tables = kStepsTensorflowTables,
    .run = run_steps_tensorflow,
};

}  // namespace stepscope::analysis
