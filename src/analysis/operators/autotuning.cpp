// Convolutions that try out algorithms while training goes on: cuDNN's benchmark mode does it at
// the first call with every new shape. Definition: docs/metrics/autotuning.md.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/costs/call_costs.h"
#include "analysis/key_columns.h"
#include "analysis/operators/algorithm_searches.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kAutotuningParameters = std::to_array<Parameter>({
    {"kernels", ParameterType::kCount, "16", "that a call starts at least when it searches"},
    {"kinds", ParameterType::kCount, "6", "of different names among them, at least"},
    {"top", ParameterType::kCount, "100", "searches per rank, the longest. 0: all"},
});
constexpr std::array kSearchColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    {"step", Type::kInt, Unit::kId, "in which it was called; null: in none"},
    {"operator", Type::kText, Unit::kNone, "that searched"},
    {"inputs", Type::kText, Unit::kNone, "sizes of its tensors; null: not recorded"},
    {"kernels", Type::kInt, Unit::kCount, "that it started"},
    {"kinds", Type::kInt, Unit::kCount, "of different names among them"},
    {"span_ns", Type::kInt, Unit::kNanos,
     "from the first of them to the end of the last, or of the call, whichever is later"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of the kernels, added"},
    {"host_ns", Type::kInt, Unit::kNanos, "the call took"},
    {"event", Type::kInt, Unit::kId, "place of the call in the file"},
});
constexpr std::array kSumColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"calls", Type::kInt, Unit::kCount, "of operators that do convolutions and started kernels"},
    {"searches", Type::kInt, Unit::kCount, "of them tried out algorithms"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their kernels, added"},
    {"once_ns", Type::kInt, Unit::kNanos,
     "of it, what they would have taken without a search: one kernel of each, of mean length"},
    {"steps", Type::kInt, Unit::kCount, "in which there was one"},
});
constexpr std::array<std::string_view, 1> kAutotuningY = {"span_ns"};
constexpr std::array kAutotuningTables = std::to_array<base::TableShape>({
    {"ranks", "one rank", kSumColumns},
    {"searches",
     "one search, the longest first",
     kSearchColumns,
     {base::Chart::kBars, "operator", kAutotuningY, "rank"}},
});

Cell autotuning_step_of(const AlgorithmSearch& search) {
  const WindowView& window = *search.window;
  const std::int32_t step = step_at(window.steps, window.trace->start()[search.row]);
  if (!window.has_steps || step < 0) return Null{};
  return window.steps[static_cast<std::size_t>(step)].number;
}

void add_autotuning_rank(std::vector<base::Table>& tables, std::int32_t rank, Searches searches,
                         std::size_t top) {
  Nanos device = 0;
  Nanos once = 0;
  std::vector<std::pair<std::uint32_t, std::int32_t>> steps;
  for (const AlgorithmSearch& one : searches.list) {
    device += one.device;
    once += one.device / one.kernels;
    const WindowView& window = *one.window;
    const std::int32_t step = step_at(window.steps, window.trace->start()[one.row]);
    if (step >= 0) steps.emplace_back(window.window, step);
  }
  std::ranges::sort(steps);
  const auto different = std::ranges::unique(steps).begin() - steps.begin();
  tables[0].add({rank, searches.calls, searches.list.size(), device, once, different});
  std::ranges::stable_sort(searches.list, std::ranges::greater{}, &AlgorithmSearch::span);
  const std::size_t shown = top == 0 ? searches.list.size() : std::min(top, searches.list.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const AlgorithmSearch& one = searches.list[i];
    const trace::Trace& trace = *one.window->trace;
    const std::string inputs = shape_text(inputs_of(trace, one.row));
    tables[1].add({rank, one.window->window, autotuning_step_of(one), trace.name_text(one.row),
                   inputs.empty() ? Cell(Null{}) : Cell(inputs), one.kernels, one.kinds, one.span,
                   one.device, trace.duration()[one.row], trace.ordinal()[one.row]});
  }
}

Answer run_autotuning(const RunView& view, const Options& options) {
  const SearchLimits limits{options.count("kernels"), options.count("kinds")};
  const auto partials = per_window<Searches>(
      view, [&](const WindowView& window) { return searches_of(window, limits); });
  Answer answer;
  for (const base::TableShape& shape : kAutotuningTables) answer.tables.emplace_back(shape);
  const auto top = static_cast<std::size_t>(options.count("top"));
  std::int64_t calls = 0;
  for (std::size_t w = 0; w < view.windows.size();) {
    const std::int32_t rank = view.windows[w].rank;
    Searches all;
    for (; w < view.windows.size() && view.windows[w].rank == rank; ++w) {
      all.calls += partials[w].calls;
      all.list.insert(all.list.end(), partials[w].list.begin(), partials[w].list.end());
    }
    calls += all.calls;
    if (all.calls > 0) add_autotuning_rank(answer.tables, rank, std::move(all), top);
  }
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (calls == 0) {
    answer.remarks.emplace_back("No convolution with GPU work is in the trace.");
  }
  return answer;
}

}  // namespace

const Analysis kAutotuning{
    .name = "autotuning",
    .title = "Algorithm searches",
    .question = "Do convolutions try out algorithms while training goes on?",
    .parameters = kAutotuningParameters,
    .tables = kAutotuningTables,
    .run = run_autotuning,
};

}  // namespace stepscope::analysis
