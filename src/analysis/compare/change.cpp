// The statistic of a comparison: how much a quantity differs, and how well that is known.
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
  double worth = 0;  // Estimate::worth, all runs together
  std::size_t all_steps = 0;
};

// Degrees of freedom of a variance that steps worth so many show in so many runs: the runs
// themselves show it, too. Of steps that are all one step it is hardly known.
double freedom_in(double worth, double runs) {
  constexpr double kLeast = 0.01;
  return std::max({kLeast, worth - runs, runs - 1});
}

SideSum change_sum_of(std::span<const Estimate> runs) {
  SideSum out{.runs = static_cast<double>(runs.size())};
  for (const Estimate& run : runs) {
    out.value += run.value / out.runs;
    out.within += run.variance / out.runs;
    out.all_steps += run.steps;
    out.worth += run.worth_steps();
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
    const double freedom = freedom_in(side->worth, side->runs);
    if (own > 0) sum += own * own / freedom;
  }
  return sum > 0 ? variance * variance / sum : std::numeric_limits<double>::infinity();
}

// Of what a run says, the variance that one step alone would have; nothing: not known.
std::optional<double> of_one_step(const SideSum& side) {
  if (static_cast<double>(side.all_steps) <= side.runs) return std::nullopt;
  return side.within * side.steps;
}

// One side, as it would be with other numbers of steps and runs.
struct Planned {
  double one = 0;      // variance of one step
  double between = 0;  // of runs
  double steps = 0;    // in each run
  double runs = 0;
  double worth = 1;  // Estimate::worth of a step
};

// The smallest change that would be seen as often as is wanted.
double seen_with(const Planned& a, const Planned& b, const Certainty& certainty) {
  double variance = 0;
  double sum = 0;
  for (const Planned* side : {&a, &b}) {
    const double own = side->one / side->steps / side->runs;
    variance += own + side->between / side->runs;
    const double freedom = freedom_in(side->runs * side->steps * side->worth, side->runs);
    if (own > 0) sum += own * own / freedom;
  }
  const double freedom =
      sum > 0 ? variance * variance / sum : std::numeric_limits<double>::infinity();
  const double both =
      student_quantile(certainty.tail, freedom) + student_quantile(1 - certainty.seen, freedom);
  return both * std::sqrt(variance);
}

// The smallest number from `least` on that is enough, where more is never worse; 0: none is.
template <class IsEnough>
std::int64_t fewest(std::int64_t least, IsEnough is_enough) {
  constexpr std::int64_t kMost = 1'000'000'000;
  if (!is_enough(kMost)) return 0;
  std::int64_t too_few = least - 1;
  std::int64_t enough = kMost;
  while (enough - too_few > 1) {
    const std::int64_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

double wanted_of(const Certainty& certainty, double before) {
  return certainty.worth_amount.value_or(certainty.worth_seeing * before);
}

// `is_exact`: before is a bound, which nothing makes more certain.
Enough needed_by(const SideSum& before, const SideSum& after, double between, bool is_exact,
                 const Certainty& certainty) {
  const double assumed = kAssumedVariation * after.value * kAssumedVariation * after.value;
  const auto one_of = [&](const SideSum& side, const SideSum& other) {
    return of_one_step(side).value_or(of_one_step(other).value_or(assumed));
  };
  const auto worth_of = [&](const SideSum& side, const SideSum& other) {
    const SideSum& known = of_one_step(side) ? side : other;
    return of_one_step(known) ? known.worth / static_cast<double>(known.all_steps) : 1;
  };
  Planned a{.one = is_exact ? 0 : one_of(before, after),
            .between = is_exact ? 0 : between,
            .steps = std::max(1.0, before.steps),
            .runs = before.runs,
            .worth = worth_of(before, after)};
  Planned b{.one = one_of(after, before),
            .between = between,
            .steps = std::max(1.0, after.steps),
            .runs = after.runs,
            .worth = worth_of(after, before)};
  const double wanted = wanted_of(certainty, before.value);
  constexpr std::int64_t kFewest = 2;  // one says nothing
  constexpr std::int64_t kForAnInterval = 5;
  if (!(wanted > 0)) return {.steps = kForAnInterval};  // it was nothing: nothing is small for it
  Enough out{.is_assumed = !of_one_step(before) && !of_one_step(after)};
  const Planned a_now = a;
  const Planned b_now = b;
  out.steps = fewest(kFewest, [&](std::int64_t steps) {
    a.steps = b.steps = static_cast<double>(steps);
    return seen_with(a, b, certainty) <= wanted;
  });
  a = a_now;
  b = b_now;
  out.runs = fewest(kFewest, [&](std::int64_t runs) {
    a.runs = b.runs = static_cast<double>(runs);
    return seen_with(a, b, certainty) <= wanted;
  });
  return out;
}

}  // namespace

Difference against(double bound, std::span<const Estimate> runs, const Certainty& certainty) {
  const SideSum side = change_sum_of(runs);
  const SideSum exact{.value = bound, .runs = 1};
  Difference out{.before = bound,
                 .after = side.value,
                 .steps_after = side.all_steps,
                 .runs_after = runs.size()};
  const double between = between_runs({.value = side.value, .runs = 1}, side, certainty.spread);
  if (tells_variance(side)) {
    const double variance = (side.within + between) / side.runs;
    const double freedom = freedom_of(exact, side, variance);
    const double sure = student_quantile(certainty.tail, freedom);
    const double error = sure * std::sqrt(variance);
    out.bounds = Difference::Bounds{out.difference() - error, out.difference() + error};
    out.smallest_seen = error + student_quantile(1 - certainty.seen, freedom) * std::sqrt(variance);
    const double wanted = wanted_of(certainty, std::abs(bound));
    if (!(wanted > 0) || out.smallest_seen <= wanted) return out;
  }
  out.enough = needed_by(exact, side, between, true, certainty);
  return out;
}

Enough needed(std::span<const Estimate> before, std::span<const Estimate> after,
              const Certainty& certainty) {
  const SideSum a = change_sum_of(before);
  const SideSum b = change_sum_of(after);
  return needed_by(a, b, between_runs(a, b, certainty.spread), false, certainty);
}

Difference compare(std::span<const Estimate> before, std::span<const Estimate> after,
                   const Certainty& certainty) {
  const SideSum a = change_sum_of(before);
  const SideSum b = change_sum_of(after);
  Difference out{.before = a.value,
                 .after = b.value,
                 .steps_before = a.all_steps,
                 .steps_after = b.all_steps,
                 .runs_before = before.size(),
                 .runs_after = after.size()};
  const double between = between_runs(a, b, certainty.spread);
  if (!tells_variance(a) || !tells_variance(b)) {
    out.enough = needed_by(a, b, between, false, certainty);
    return out;
  }
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

  out.smallest_seen = (sure + student_quantile(1 - certainty.seen, freedom)) * error;
  const double wanted = wanted_of(certainty, a.value);
  if (wanted > 0 && out.smallest_seen > wanted) {
    out.enough = needed_by(a, b, between, false, certainty);
  }
  return out;
}

}  // namespace stepscope::analysis
