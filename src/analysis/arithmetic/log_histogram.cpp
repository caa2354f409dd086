#include "analysis/arithmetic/log_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stepscope::analysis {
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
