#include "analysis/loading/warm_up.h"

#include <algorithm>

#include "analysis/arithmetic/durations.h"

namespace stepscope::analysis {
namespace {

constexpr std::size_t kLeast = 8;      // iterations; fewer have no second half to speak of
constexpr std::size_t kFollowers = 4;  // that must be settled too, but for one
constexpr std::size_t kFew = 4;        // iterations; of fewer nothing is said of the first

// The first of a recording is often none: workers start in it, or the loop was found in its middle.
// Told by nearly all of the others, since lengths may alternate for good.
bool is_first_odd(std::span<const base::Nanos> lengths) {
  if (lengths.size() < kFew) return false;
  Durations others;
  for (const base::Nanos length : lengths.subspan(1)) others.add(length);
  return lengths.front() / 3 > others.percentile(0.9) ||
         lengths.front() < others.percentile(0.1) / 4;
}

// How many there are before lengths settle; 0 where they never do.
std::size_t unsettled(std::span<const base::Nanos> lengths) {
  if (lengths.size() < kLeast) return 0;
  Durations later;
  for (const base::Nanos length : lengths.subspan(lengths.size() / 2)) later.add(length);
  const base::Nanos usual = later.median();
  // At most five quarters of what is usual later.
  const auto settled = [&](base::Nanos length) { return length <= usual + usual / 4; };
  for (std::size_t first = 0; first <= lengths.size() / 2; ++first) {
    if (!settled(lengths[first])) continue;
    const auto next =
        lengths.subspan(first + 1).first(std::min(kFollowers, lengths.size() - first - 1));
    const auto slow = std::ranges::count_if(next, [&](base::Nanos one) { return !settled(one); });
    if (slow <= 1) return first;
  }
  return 0;
}

}  // namespace

std::size_t warm_up(std::span<const base::Nanos> lengths) {
  return std::max<std::size_t>(unsettled(lengths), is_first_odd(lengths) ? 1 : 0);
}

}  // namespace stepscope::analysis
