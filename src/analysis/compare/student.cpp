#include "analysis/compare/student.h"

#include <algorithm>
#include <cmath>

namespace stepscope::analysis {
namespace {

// ln Γ by Lanczos' series: std::lgamma writes to a global.
double log_gamma(double x) {
  static constexpr double kSeries[] = {76.18009172947146,     -86.50532032941677,
                                       24.01409824083091,     -1.231739572450155,
                                       0.1208650973866179e-2, -0.5395239384953e-5};
  double sum = 1.000000000190015;
  double at = x;
  for (const double term : kSeries) sum += term / ++at;
  const double base = x + 5.5;
  return (x + 0.5) * std::log(base) - base + std::log(2.5066282746310005 * sum / x);
}

// The continued fraction of the incomplete beta function, by Lentz.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kExact = 1e-14;
  constexpr int kMostTerms = 1000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < kExact) break;
  }
  return result;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log(1 - x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double upper_tail(double t, double freedom) {
  constexpr double kAsGoodAsNormal = 1e6;
  if (freedom > kAsGoodAsNormal) return std::erfc(t / std::sqrt(2.0)) / 2;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

}  // namespace

double student_tail(double t, double freedom) {
  const double beyond = upper_tail(std::abs(t), freedom);
  return t < 0 ? 1 - beyond : beyond;
}

double student_quantile(double tail, double freedom) {
  freedom = std::max(1.0, freedom);
  double low = 0;
  double high = 1;
  while (upper_tail(high, freedom) > tail && high < 1e9) high *= 2;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (upper_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace stepscope::analysis
