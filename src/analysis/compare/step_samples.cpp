#include "analysis/compare/step_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/compare/series.h"
#include "analysis/table_of.h"
#include "base/table_line.h"

namespace stepscope::analysis {
using base::TableLine;

std::vector<double> step_lengths(const Answer& steps, std::int64_t rank) {
  std::vector<double> out;
  const base::Table* table = table_of(steps, "steps");
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    const TableLine line(*table, r);
    if (line.whole("rank") == rank) out.push_back(line.number("step_ns"));
  }
  return out;
}

std::optional<std::int64_t> slowest_rank(const Answer& steps) {
  std::set<std::int64_t> ranks;
  const base::Table* table = table_of(steps, "times");
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    ranks.insert(TableLine(*table, r).whole("rank"));
  }
  std::optional<std::int64_t> slowest;
  double longest = -1;
  for (const std::int64_t rank : ranks) {
    const double typical = estimate(step_lengths(steps, rank), Average::kTypical).value;
    if (typical <= longest) continue;
    longest = typical;
    slowest = rank;
  }
  return slowest;
}

std::vector<std::int64_t> warmup_numbers(const Answer& steps) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, double>>>
      windows;
  const base::Table* table = table_of(steps, "steps");
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    const TableLine line(*table, r);
    windows[{line.whole("rank"), line.whole("window")}].emplace_back(line.whole("step"),
                                                                     line.number("step_ns"));
  }
  std::set<std::int64_t> out;
  for (const auto& [window, list] : windows) {
    std::vector<double> lengths;
    for (const auto& [number, length] : list) lengths.push_back(length);
    for (std::size_t i = 0; i < warmup_steps(lengths); ++i) out.insert(list[i].first);
  }
  return {out.begin(), out.end()};
}

void add_step_times(const RunSteps& of, RunSamples& out) {
  Sample inside{.values = {}, .per_step = true, .kind = StepKind::kTraced};
  if (const auto rank = slowest_rank(*of.steps)) inside.values = step_lengths(*of.steps, *rank);
  const auto slowest = of.untraced->slowest();
  const std::string own(sample::kStepTime);
  if (!slowest) {
    if (!inside.values.empty()) out.samples[own] = std::move(inside);
    return;
  }
  out.warmup = of.untraced->warmup;
  out.in_windows = of.untraced->in_windows;
  out.samples[own] = {
      .values = of.untraced->lengths.at(*slowest), .per_step = true, .kind = StepKind::kUntraced};
  if (of.is_traced && !inside.values.empty()) {
    out.samples[std::string(sample::kTracedStepTime)] = std::move(inside);
  }
}

std::optional<std::int64_t> rank_of_steps(const RunSteps& of, StepKind chosen) {
  const auto slowest = of.untraced->slowest();
  return chosen != StepKind::kTraced && slowest ? slowest : slowest_rank(*of.steps);
}

}  // namespace stepscope::analysis
