// Takes numbers out of curves: spreads, rates of running totals, means.
#include "analysis/system/curve_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepscope::analysis {
namespace {

using base::Nanos;

// The smallest value that at least this share of the values do not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const auto needed =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::max<std::size_t>(needed, 1) - 1];
}

double median(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::optional<SampleSpread> spread(std::vector<double> values, double mean) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return SampleSpread{.mean = mean,
                      .median = median(values),
                      .p95 = percentile(values, 0.95),
                      .max = values.back(),
                      .count = values.size()};
}

}  // namespace

std::optional<SampleSpread> spread_of(const Curve* curve, double scale) {
  if (curve == nullptr || curve->values.empty()) return std::nullopt;
  std::vector<double> values;
  values.reserve(curve->values.size());
  std::int64_t sum = 0;
  for (const std::int64_t value : curve->values) {
    sum += value;
    values.push_back(static_cast<double>(value) * scale);
  }
  const double count = static_cast<double>(values.size());
  return spread(std::move(values), static_cast<double>(sum) / count * scale);
}

std::optional<SampleSpread> rates_of(const Curve* curve, Nanos window, double scale) {
  if (curve == nullptr || curve->values.size() < 2) return std::nullopt;
  const std::vector<Nanos>& times = curve->times;
  const std::vector<std::int64_t>& values = curve->values;
  std::vector<double> rates;
  std::int64_t grown = 0;
  Nanos covered = 0;
  const auto rate = [&](std::size_t from, std::size_t to) {
    return static_cast<double>(values[to] - values[from]) /
           static_cast<double>(times[to] - times[from]) * scale;
  };
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t from = 0;
  std::size_t before = kNone;  // where the stretch began that ended at `from`
  for (std::size_t to = 1; to < values.size(); ++to) {
    if (values[to] < values[to - 1]) {
      from = to;
      before = kNone;
      continue;
    }
    grown += values[to] - values[to - 1];
    covered += times[to] - times[to - 1];
    if (times[to] - times[from] >= window) {
      rates.push_back(rate(from, to));
      before = std::exchange(from, to);
    } else if (to + 1 < values.size()) {
      continue;
    } else if (before != kNone) {  // what is left at the end makes the last stretch longer
      rates.back() = rate(before, to);
    } else if (rates.empty()) {
      rates.push_back(rate(from, to));
    }
  }
  if (covered == 0) return std::nullopt;
  return spread(std::move(rates),
                static_cast<double>(grown) / static_cast<double>(covered) * scale);
}

std::optional<SampleSpread> shares_of(const Curve* curve, Nanos window, double scale) {
  std::optional<SampleSpread> shares = rates_of(curve, window, scale);
  if (!shares) return shares;
  for (double* const share : {&shares->mean, &shares->median, &shares->p95, &shares->max}) {
    *share = at_most_all(*share);
  }
  return shares;
}

std::optional<std::int64_t> last_of(const Curve* curve) {
  if (curve == nullptr || curve->values.empty()) return std::nullopt;
  return curve->values.back();
}

std::optional<std::int64_t> largest_of(const Curve* curve) {
  if (curve == nullptr || curve->values.empty()) return std::nullopt;
  return *std::ranges::max_element(curve->values);
}

std::optional<std::int64_t> growth_of(const Curve* curve) {
  if (curve == nullptr || curve->values.size() < 2) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < curve->values.size(); ++i) {
    sum += std::max<std::int64_t>(curve->values[i] - curve->values[i - 1], 0);
  }
  return sum;
}

CurveReader::CurveReader(const Curve* curve) : curve_(curve) {
  if (curve == nullptr || curve->is_counter()) return;
  sums_.push_back(0);
  for (const std::int64_t value : curve->values) sums_.push_back(sums_.back() + value);
}

std::size_t CurveReader::first_at(Nanos time) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(curve_->times, time) -
                                  curve_->times.begin());
}

std::size_t CurveReader::samples(Interval within) const {
  return curve_ == nullptr ? 0 : first_at(within.end) - first_at(within.start);
}

std::int64_t CurveReader::sum(Interval within) const {
  return sums_[first_at(within.end)] - sums_[first_at(within.start)];
}

std::optional<double> CurveReader::mean(std::span<const Interval> within) const {
  std::size_t count = 0;
  std::int64_t all = 0;
  for (const Interval& one : within) {
    const std::size_t more = samples(one);
    if (more > 0) all += sum(one);
    count += more;
  }
  if (count == 0) return std::nullopt;
  return static_cast<double>(all) / static_cast<double>(count);
}

std::optional<double> CurveReader::mean(Interval within) const {
  return mean(std::span(&within, 1));
}

std::optional<std::int64_t> CurveReader::max(std::span<const Interval> within) const {
  std::optional<std::int64_t> most;
  for (const Interval& one : within) {
    const std::size_t count = samples(one);
    if (count == 0) continue;
    const auto first = curve_->values.begin() + static_cast<std::ptrdiff_t>(first_at(one.start));
    const std::int64_t here = *std::max_element(first, first + static_cast<std::ptrdiff_t>(count));
    most = std::max(most.value_or(here), here);
  }
  return most;
}

std::optional<double> CurveReader::value_at(Nanos time) const {
  const std::size_t after = first_at(time);
  if (after == curve_->times.size()) return std::nullopt;
  const auto value = [&](std::size_t i) { return static_cast<double>(curve_->values[i]); };
  if (curve_->times[after] == time) return value(after);
  if (after == 0) return std::nullopt;
  const double part = static_cast<double>(time - curve_->times[after - 1]) /
                      static_cast<double>(curve_->times[after] - curve_->times[after - 1]);
  return value(after - 1) + (value(after) - value(after - 1)) * part;
}

std::optional<double> CurveReader::growth(Interval within) const {
  return growth(std::span(&within, 1));
}

std::optional<double> CurveReader::growth(std::span<const Interval> within) const {
  if (curve_ == nullptr || curve_->times.empty()) return std::nullopt;
  double sum = 0;
  for (const Interval& one : within) {
    const Interval seen = covered(one);
    const auto from = value_at(seen.start);
    const auto to = value_at(seen.end);
    if (!from || !to || *to < *from) return std::nullopt;
    sum += seen == one ? *to - *from
                       : (*to - *from) * static_cast<double>(one.length()) /
                             static_cast<double>(seen.length());
  }
  return sum;
}

// The first step of a run begins a moment before the first sample, the last ends after the last.
Interval CurveReader::covered(Interval within) const {
  constexpr Nanos kIntervals = 2;  // that may be missing
  constexpr Nanos kPart = 20;      // of the stretch, so too
  const Interval all{curve_->times.front(), curve_->times.back()};
  const Interval seen{std::max(within.start, all.start), std::min(within.end, all.end)};
  const auto between = std::max<Nanos>(1, static_cast<Nanos>(curve_->times.size()) - 1);
  const Nanos few = std::max(kIntervals * all.length() / between, within.length() / kPart);
  const bool is_most = 2 * seen.length() > within.length();
  return is_most && within.length() - seen.length() <= few ? seen : within;
}

}  // namespace stepscope::analysis
