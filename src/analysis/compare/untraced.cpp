#include "analysis/compare/untraced.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/compare/series.h"
#include "analysis/recording/recorded_steps.h"

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

}  // namespace stepscope::analysis
