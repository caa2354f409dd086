// The step times of a run: which were taken without a profiler, on which rank, which warm up.
#include "analysis/compare/step_samples.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/compare/series.h"
#include "analysis/recording/recorded_steps.h"
#include "base/table_line.h"

namespace stepscope::analysis {
namespace {

// The steps that a window touched: the one before it, in which a profiler warms up, its own, and
// the one it was closed in.
Interval touched_by(const trace::RecordedWindow& window) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const auto within = [](auto number) {
    return std::cmp_less(number, kMost) ? static_cast<std::int64_t>(number) : kMost;
  };
  const std::int64_t first = std::clamp(window.first_step, -kMost, kMost);
  return {first - 1, first + within(window.steps) + 1};
}

bool is_touched(std::int64_t step, std::span<const Interval> windows) {
  return std::ranges::any_of(
      windows, [&](const Interval& window) { return window.start <= step && step < window.end; });
}

}  // namespace

std::optional<std::int64_t> UntracedSteps::slowest() const {
  std::optional<std::int64_t> slowest;
  double longest = -1;
  for (const auto& [rank, steps] : lengths) {
    const double typical = estimate(steps, Average::kTypical).value;
    if (typical <= longest) continue;
    longest = typical;
    slowest = rank;
  }
  return slowest;
}

UntracedSteps untraced_steps(const RunView& view, std::span<const trace::RankRecord> records,
                             Warmup warmup) {
  UntracedSteps out;
  std::set<std::int64_t> numbers;
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> left_out;
  for (const auto& [rank, steps] : recorded_steps(view)) {
    std::vector<Interval> windows;
    for (const trace::RankRecord& record : records) {
      if (record.rank != rank) continue;
      for (const trace::RecordedWindow& window : record.windows) {
        windows.push_back(touched_by(window));
      }
    }
    std::vector<double> lengths;
    std::vector<std::int64_t> own;
    std::size_t in_windows = 0;
    for (const RecordedStep& step : steps) {
      if (step.traced || is_touched(step.number, windows)) {
        ++in_windows;
        continue;
      }
      lengths.push_back(static_cast<double>(step.length));
      own.push_back(step.number);
    }
    const std::size_t early = warmup == Warmup::kLeftOut ? warmup_steps(lengths) : 0;
    if (early == lengths.size()) continue;
    left_out[rank] = {early, in_windows};
    const auto settled = static_cast<std::ptrdiff_t>(early);
    numbers.insert(own.begin() + settled, own.end());
    lengths.erase(lengths.begin(), lengths.begin() + settled);
    out.lengths.emplace(rank, std::move(lengths));
  }
  out.numbers.assign(numbers.begin(), numbers.end());
  if (const auto slowest = out.slowest()) {
    std::tie(out.warmup, out.in_windows) = left_out.at(*slowest);
  }
  return out;
}

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
