// Statistics of many lengths of time: exact for one rank, in buckets for many.
#include "analysis/arithmetic/durations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace stepscope::analysis {

void Durations::merge(const Durations& other) {
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  sorted_ = false;
}

base::Nanos Durations::sum() const {
  base::Nanos sum = 0;
  for (const base::Nanos value : values_) sum += value;
  return sum;
}

base::Nanos Durations::min() const { return values_.empty() ? 0 : std::ranges::min(values_); }
base::Nanos Durations::max() const { return values_.empty() ? 0 : std::ranges::max(values_); }

double Durations::mean() const {
  return values_.empty() ? 0 : static_cast<double>(sum()) / static_cast<double>(count());
}

double Durations::standard_deviation() const {
  if (values_.size() < 2) return 0;
  // n Σx² − (Σx)² in 128 bits: exact, so the order of the values does not matter.
  __extension__ using Wide = __int128;
  Wide sum = 0;
  Wide squares = 0;
  for (const base::Nanos value : values_) {
    sum += value;
    squares += static_cast<Wide>(value) * value;
  }
  const auto n = static_cast<Wide>(values_.size());
  const auto spread = static_cast<double>(n * squares - sum * sum);
  return std::sqrt(spread / (static_cast<double>(n) * static_cast<double>(n - 1)));
}

base::Nanos Durations::median() {
  if (values_.empty()) return 0;
  const auto upper = values_.begin() + static_cast<std::ptrdiff_t>(values_.size() / 2);
  if (!sorted_) std::ranges::nth_element(values_, upper);
  if (values_.size() % 2 == 1) return *upper;
  const base::Nanos lower = *std::ranges::max_element(values_.begin(), upper);
  return std::midpoint(lower, *upper);
}

base::Nanos Durations::percentile(double share) {
  if (values_.empty()) return 0;
  // 0.07 * 100 is a little more than 7 in binary and still means the seventh.
  const double rank = std::ceil(share * static_cast<double>(values_.size()) - 1e-6);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  const auto at =
      values_.begin() + static_cast<std::ptrdiff_t>(std::min(index, values_.size() - 1));
  // A few percentiles cost less than sorting.
  if (!sorted_) std::ranges::nth_element(values_, at);
  return *at;
}

namespace {

constexpr unsigned kBits = 6;  // of a value that its bucket keeps, below the leading one
constexpr std::uint32_t kPerDoubling = 1U << kBits;

}  // namespace

std::uint32_t LogHistogram::bucket_of(base::Nanos length) {
  const auto value = static_cast<std::uint64_t>(std::max<base::Nanos>(length, 0));
  if (value < std::uint64_t{2} * kPerDoubling) return static_cast<std::uint32_t>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
  return shift * kPerDoubling + static_cast<std::uint32_t>(value >> shift);
}

base::Nanos LogHistogram::lowest_of(std::uint32_t bucket) {
  if (bucket < 2 * kPerDoubling) return bucket;
  const std::uint32_t shift = bucket / kPerDoubling - 1;
  return static_cast<base::Nanos>(std::uint64_t{bucket - shift * kPerDoubling} << shift);
}

void LogHistogram::add(base::Nanos length) {
  ++buckets_[bucket_of(length)];
  ++count_;
  min_ = std::min(min_, length);
  max_ = std::max(max_, length);
}

void LogHistogram::merge(const LogHistogram& other) {
  for (const auto& [bucket, count] : other.buckets_) buckets_[bucket] += count;
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

base::Nanos LogHistogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(share * static_cast<double>(count_) - 1e-6);
  const auto rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1.0)), 1, count_);
  std::uint64_t seen = 0;
  for (const auto& [bucket, count] : buckets_) {
    seen += count;
    if (seen >= rank) {
      const base::Nanos lowest = lowest_of(bucket);
      return std::clamp(lowest + (lowest_of(bucket + 1) - 1 - lowest) / 2, min_, max_);
    }
  }
  return 0;
}

}  // namespace stepscope::analysis
