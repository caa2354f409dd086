#include "analysis/compare/launched.h"

#include <array>
#include <map>
#include <tuple>

#include "analysis/operators/op_calls.h"

namespace stepscope::analysis {
namespace {

using base::Type;
using base::Unit;

constexpr std::array kLaunchedColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"operator", Type::kText, Unit::kNone, "that launched it; in parentheses: none did"},
    {"kernel", Type::kText, Unit::kNone, "name of the kernel, copy or memset"},
    {"class", Type::kText, Unit::kNone, "compute, communication, memcpy or memset"},
    {"count", Type::kInt, Unit::kCount, "how often it ran"},
    {"sum_ns", Type::kInt, Unit::kNanos, "time it ran, all runs together"},
});
constexpr base::TableShape kShape{"launched", "work of one name under one operator",
                                  kLaunchedColumns};

struct LaunchedSum {
  std::int64_t count = 0;
  base::Nanos time = 0;
};
using LaunchedKey = std::tuple<std::string_view, std::string_view, WorkClass>;  // operator, kernel
using LaunchedSums = std::map<LaunchedKey, LaunchedSum>;

LaunchedSums launched_sums_of(const WindowView& window) {
  const OpCalls& ops = op_calls(window);
  const trace::Trace& trace = *window.trace;
  // By number first: names are compared once per pair, not once per event.
  std::map<std::tuple<base::StringId, base::StringId, WorkClass>, LaunchedSum> of_operators;
  LaunchedSums out;
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (!window.counts(piece)) continue;
    const std::uint32_t call = ops.of_work[i];
    const base::StringId kernel = trace.name()[piece.row];
    LaunchedSum& sum =
        call == OpCall::kNone
            ? out[{name_of(why_no_operator(window, piece)), trace.text(kernel), piece.work_class}]
            : of_operators[{trace.name()[ops.calls[call].row], kernel, piece.work_class}];
    ++sum.count;
    sum.time += piece.length();
  }
  for (const auto& [key, sum] : of_operators) {
    const auto& [op, kernel, work_class] = key;
    LaunchedSum& all = out[{trace.text(op), trace.text(kernel), work_class}];
    all.count += sum.count;
    all.time += sum.time;
  }
  return out;
}

}  // namespace

base::Table launched_work(const RunView& view) {
  const auto partials = per_window<LaunchedSums>(
      view, [](const WindowView& window) { return launched_sums_of(window); });
  std::map<std::int32_t, LaunchedSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    for (const auto& [key, sum] : partials[w]) {
      LaunchedSum& all = ranks[view.windows[w].rank][key];
      all.count += sum.count;
      all.time += sum.time;
    }
  }
  base::Table table(kShape);
  for (const auto& [rank, sums] : ranks) {
    for (const auto& [key, sum] : sums) {
      const auto& [op, kernel, work_class] = key;
      table.add({rank, op, kernel, name_of(work_class), sum.count, sum.time});
    }
  }
  return table;
}

}  // namespace stepscope::analysis
