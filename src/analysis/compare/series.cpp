// What the steps of one run say about a quantity: warm-up, typical value, and its error.
#include "analysis/compare/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/arithmetic/warm_up.h"

namespace stepscope::analysis {
namespace {

// Fewer steps do not show how much one hands on to the next.
constexpr std::size_t kFewestToTell = 10;

// How many steps an average leaves out at either end.
std::size_t trimmed_of(std::size_t steps, Average average) {
  return average == Average::kTypical ? steps / 4 : 0;
}

// Of the values, which come back in another order.
double average_of(std::span<double> values, Average average) {
  const std::size_t trimmed = trimmed_of(values.size(), average);
  if (trimmed > 0) {
    const auto low = values.begin() + static_cast<std::ptrdiff_t>(trimmed);
    const auto high = values.end() - static_cast<std::ptrdiff_t>(trimmed);
    std::ranges::nth_element(values, low);
    std::nth_element(low, high, values.end());
  }
  const std::span<const double> kept = values.subspan(trimmed, values.size() - 2 * trimmed);
  return std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size());
}

// Numbers that look random and are the same everywhere.
class Draws {
 public:
  std::size_t below(std::size_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<std::size_t>(bits % bound);
  }

 private:
  std::uint64_t state_ = 0;
};

// The variance of a sum of so many steps that follow each other, of that of as many independent
// ones, where each hands on this much of its distance from the average.
double excess_of(double handed_on, std::size_t steps) {
  double sum = 1;
  double power = 1;
  for (std::size_t k = 1; k < steps; ++k) {
    power *= handed_on;
    sum += 2 * (1 - static_cast<double>(k) / static_cast<double>(steps)) * power;
  }
  return sum;
}

}  // namespace

double median_of(std::vector<double> values) {
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, upper);
  if (values.size() % 2 == 1) return *upper;
  return (*std::ranges::max_element(values.begin(), upper) + *upper) / 2;
}

std::size_t warmup_steps(std::span<const double> steps) { return warm_up_of(steps, {}); }

std::vector<std::size_t> middle_half(std::span<const double> steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps[i]; });
  const auto trimmed = static_cast<std::ptrdiff_t>(trimmed_of(steps.size(), Average::kTypical));
  return {order.begin() + trimmed, order.end() - trimmed};
}

double handed_on(std::span<const double> settled, Average average) {
  constexpr double kMost = 0.999;
  constexpr double kAssumed = 0.4;      // twelve recorded runs show 0.3 on average, 0.6 at most
  constexpr double kAssumedSteps = 10;  // it counts as much as so many steps
  const auto n = static_cast<double>(settled.size());
  if (settled.size() < kFewestToTell) return kAssumed;
  // What an average leaves out moves it as if it lay at the edge of what is left.
  std::vector<double> sorted(settled.begin(), settled.end());
  std::ranges::sort(sorted);
  const std::size_t trimmed = trimmed_of(sorted.size(), average);
  const double low = sorted[trimmed];
  const double high = sorted[sorted.size() - 1 - trimmed];
  double mean = 0;
  for (const double step : settled) mean += std::clamp(step, low, high) / n;
  double products = 0;
  double squares = 0;
  double before = 0;
  for (const double step : settled) {
    const double distance = std::clamp(step, low, high) - mean;
    products += before * distance;
    squares += distance * distance;
    before = distance;
  }
  if (!(squares > 0)) return 0;
  // The mean is of the same steps, which makes them look less alike than they are: Kendall's
  // correction. Steps that hand on much say little about how much: its error comes on top of it.
  const double found = std::clamp((products / squares + 1 / n) / (1 - 3 / n), 0.0, 1.0);
  const double surely = found * (1 + std::sqrt((1 - found * found) / n));
  const double weighed = (n * found + kAssumedSteps * kAssumed) / (n + kAssumedSteps);
  return std::min(kMost, std::max(surely, weighed));
}

Estimate estimate(std::span<const double> settled, Average average) {
  Estimate out{.steps = settled.size()};
  if (settled.empty()) return out;
  std::vector<double> values(settled.begin(), settled.end());
  out.value = average_of(values, average);
  const std::size_t n = settled.size();
  if (n < 2) return out;
  // Blocks of n^(1/3) steps keep what neighbours have in common; the run is closed to a ring so
  // that every step is drawn equally often.
  constexpr int kResamples = 200;
  constexpr double kLeastWorth = 0.01;  // steps that are all one step say nothing
  const std::size_t block = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(n)))));
  Draws draws;
  double sum = 0;
  double squares = 0;
  for (int r = 0; r < kResamples; ++r) {
    for (std::size_t filled = 0; filled < n;) {
      const std::size_t start = draws.below(n);
      for (std::size_t i = 0; i < block && filled < n; ++i) {
        values[filled++] = settled[(start + i) % n];
      }
    }
    const double distance = average_of(values, average) - out.value;
    sum += distance;
    squares += distance * distance;
  }
  const double spread = (squares - sum * sum / kResamples) / (kResamples - 1);
  // Steps that hand on much are alike for longer than a block, and all of them lie nearer to each
  // other than to what the next run would show.
  const double alike = handed_on(settled, average);
  const double excess = excess_of(alike, n);
  const double unseen = excess / excess_of(alike, block);
  const auto steps = static_cast<double>(n);
  out.variance = std::max(0.0, spread) * unseen * steps / std::max(kLeastWorth, steps - excess);
  out.worth =
      static_cast<double>(n - 2 * trimmed_of(n, average)) / (n < kFewestToTell ? 1 : excess);
  return out;
}

}  // namespace stepscope::analysis
