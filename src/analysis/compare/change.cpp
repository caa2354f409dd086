#include "analysis/compare/change.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/compare/student.h"

namespace stepscope::analysis {
namespace {

// The assumed spread counts as much as so many runs beyond the first: measured ones outweigh it
// soon, and two that happen to agree do not make anybody certain.
constexpr double kAssumedRuns = 8;

struct SideSum {
  double value = 0;    // mean of the runs
  double within = 0;   // mean variance of one run's estimate
  double squares = 0;  // of the runs' distances from their mean
  double runs = 0;
  double steps = 0;  // per run
  std::size_t all_steps = 0;
};

SideSum sum_of(std::span<const Estimate> runs) {
  SideSum out{.runs = static_cast<double>(runs.size())};
  for (const Estimate& run : runs) {
    out.value += run.value / out.runs;
    out.within += run.variance / out.runs;
    out.all_steps += run.steps;
  }
  for (const Estimate& run : runs) {
    out.squares += (run.value - out.value) * (run.value - out.value);
  }
  out.steps = static_cast<double>(out.all_steps) / out.runs;
  return out;
}

bool tells_variance(const SideSum& side) { return side.runs > 1 || side.all_steps > 1; }

// Variance between runs, of either side: what the runs show beyond what their steps explain, and
// what is assumed.
double between_runs(const SideSum& before, const SideSum& after, double spread) {
  const double assumed = spread * spread * before.value * before.value;
  const double freedom = before.runs + after.runs - 2;
  if (freedom <= 0 || spread <= 0) return assumed;
  const double seen = (before.squares + after.squares) / freedom;
  const double own = std::max(0.0, seen - (before.within + after.within) / 2);
  return (kAssumedRuns * assumed + freedom * own) / (kAssumedRuns + freedom);
}

// Welch's degrees of freedom. What is assumed between runs is not an estimate of few values.
double freedom_of(const SideSum& before, const SideSum& after, double variance) {
  double sum = 0;
  for (const SideSum* side : {&before, &after}) {
    const double own = side->within / side->runs;
    const double freedom = static_cast<double>(side->all_steps) - side->runs;
    if (own > 0 && freedom > 0) sum += own * own / freedom;
  }
  return sum > 0 ? variance * variance / sum : std::numeric_limits<double>::infinity();
}

std::int64_t whole_above(double value) {
  constexpr double kMost = 1e9;
  return static_cast<std::int64_t>(std::ceil(std::min(value, kMost)));
}

}  // namespace

std::optional<Difference::Bounds> level_bounds(std::span<const Estimate> runs,
                                               const Certainty& certainty) {
  const SideSum side = sum_of(runs);
  if (!tells_variance(side)) return std::nullopt;
  const SideSum nobody{.value = side.value, .runs = 1};
  const double between = between_runs(nobody, side, certainty.spread);
  const double variance = (side.within + between) / side.runs;
  const double error =
      student_quantile(certainty.tail, freedom_of(nobody, side, variance)) * std::sqrt(variance);
  return Difference::Bounds{side.value - error, side.value + error};
}

Difference compare(std::span<const Estimate> before, std::span<const Estimate> after,
                   const Certainty& certainty) {
  const SideSum a = sum_of(before);
  const SideSum b = sum_of(after);
  Difference out{.before = a.value,
                 .after = b.value,
                 .steps_before = a.all_steps,
                 .steps_after = b.all_steps,
                 .runs_before = before.size(),
                 .runs_after = after.size()};
  if (!tells_variance(a) || !tells_variance(b)) return out;
  const double between = between_runs(a, b, certainty.spread);
  const double variance = (a.within + between) / a.runs + (b.within + between) / b.runs;
  const double freedom = freedom_of(a, b, variance);
  const double sure = student_quantile(certainty.tail, freedom);
  const double error = std::sqrt(variance);
  out.bounds = Difference::Bounds{out.difference() - sure * error, out.difference() + sure * error};
  if (a.value > 0 && b.value > 0) {
    // A time cannot fall by more than all of it, so the lower end is that of the ratio. Where
    // errors are small both are the same.
    const double ratio_error = std::sqrt((a.within + between) / a.runs / (a.value * a.value) +
                                         (b.within + between) / b.runs / (b.value * b.value));
    const double least = b.value / a.value * std::exp(-sure * ratio_error);
    out.bounds->low = std::max(out.bounds->low, a.value * (least - 1));
  }

  const double both = sure + student_quantile(1 - certainty.seen, freedom);
  out.smallest_seen = both * error;
  const double wanted = certainty.worth_seeing * a.value;
  if (wanted <= 0 || out.smallest_seen <= wanted) return out;
  // With as many more steps as it takes, the quantiles are the normal distribution's.
  constexpr double kNormal = std::numeric_limits<double>::infinity();
  const double quantiles =
      student_quantile(certainty.tail, kNormal) + student_quantile(1 - certainty.seen, kNormal);
  const double allowed = wanted * wanted / (quantiles * quantiles);
  const double fixed = between * (1 / a.runs + 1 / b.runs);
  const double own = a.within / a.runs + b.within / b.runs;
  Enough enough;
  if (allowed > fixed) {
    enough.steps = whole_above(std::max(a.steps, b.steps) * std::max(1.0, own / (allowed - fixed)));
  }
  enough.runs =
      whole_above(std::max({2.0, a.runs, b.runs, (a.within + b.within + 2 * between) / allowed}));
  out.enough = enough;
  return out;
}

}  // namespace stepscope::analysis
