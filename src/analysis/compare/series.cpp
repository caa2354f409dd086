#include "analysis/compare/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stepscope::analysis {
namespace {

// Of the values, which come back in another order.
double average_of(std::span<double> values, Average average) {
  const std::size_t trimmed = average == Average::kTypical ? values.size() / 4 : 0;
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

}  // namespace

double median_of(std::vector<double> values) {
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, upper);
  if (values.size() % 2 == 1) return *upper;
  return (*std::ranges::max_element(values.begin(), upper) + *upper) / 2;
}

std::size_t warmup_steps(std::span<const double> steps) {
  constexpr std::size_t kFewest = 6;    // of fewer nobody can say which are unlike the others
  constexpr std::size_t kSettled = 3;   // so many in a row end it
  constexpr double kDeviations = 4;     // from the second half's median
  constexpr double kLeastShare = 0.05;  // steps that are nearly alike are not told apart
  constexpr double kMadToSigma = 1.4826;
  if (steps.size() < kFewest) return 0;
  const std::span<const double> later = steps.subspan(steps.size() / 2);
  const double usual = median_of({later.begin(), later.end()});
  std::vector<double> distances;
  for (const double step : later) distances.push_back(std::abs(step - usual));
  const double far =
      std::max(kDeviations * kMadToSigma * median_of(distances), kLeastShare * std::abs(usual));
  std::size_t warmup = 0;
  std::size_t like = 0;
  for (std::size_t i = 0; i < steps.size() / 2 && like < kSettled; ++i) {
    const bool unlike = std::abs(steps[i] - usual) > far;
    like = unlike ? 0 : like + 1;
    if (unlike) warmup = i + 1;
  }
  return warmup;
}

std::vector<std::size_t> middle_half(std::span<const double> steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps[i]; });
  const auto trimmed = static_cast<std::ptrdiff_t>(steps.size() / 4);
  return {order.begin() + trimmed, order.end() - trimmed};
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
  // A sample drawn from n steps varies less than one drawn from all there could be.
  out.variance = std::max(0.0, spread) * static_cast<double>(n) / static_cast<double>(n - 1);
  return out;
}

}  // namespace stepscope::analysis
