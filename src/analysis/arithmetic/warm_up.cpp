// The place where the lengths of steps change from those of a warm-up to what is usual: the one
// that makes odd lengths before it most unlike those after it.
#include "analysis/arithmetic/warm_up.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stepscope::analysis {
namespace {

double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// How much better so many odd ones of so many are explained by their own share than by `usual`.
double evidence_of(double odd, double all, double usual) {
  const double share = odd / all;
  if (share <= usual) return 0;
  const double others = all - odd;
  const double of_others = others > 0 ? others * std::log((1 - share) / (1 - usual)) : 0;
  return odd * std::log(share / usual) + of_others;
}

}  // namespace

std::size_t warm_up_of(std::span<const double> lengths, const WarmUpRule& rule) {
  constexpr double kDeviations = 4;
  constexpr double kMadToSigma = 1.4826;
  constexpr double kEnough = 2;  // e^2 times as likely
  if (lengths.size() < rule.fewest) return 0;
  const std::span<const double> later = lengths.subspan(lengths.size() / 2);
  const double usual = upper_median({later.begin(), later.end()});
  std::vector<double> distances;
  for (const double length : later) distances.push_back(std::abs(length - usual));
  const double far = std::max(kDeviations * kMadToSigma * upper_median(std::move(distances)),
                              rule.least_share * std::abs(usual));
  const auto is_odd = [&](double length) { return std::abs(length - usual) > far; };
  const auto odd_later = static_cast<double>(std::ranges::count_if(later, is_odd));
  const double share_later = (odd_later + 0.5) / (static_cast<double>(later.size()) + 1);
  std::size_t best = 0;
  double most = kEnough;
  double odd = 0;
  for (std::size_t i = 0; i < lengths.size() / 3; ++i) {
    if (!is_odd(lengths[i])) continue;
    odd += 1;
    const double evidence = evidence_of(odd, static_cast<double>(i + 1), share_later);
    if (evidence < most) continue;
    most = evidence;
    best = i + 1;
  }
  return best;
}

}  // namespace stepscope::analysis
