// Ticks of the processor's clock to nanoseconds.
#include "wire/ticks.h"

#include <algorithm>
#include <limits>

namespace stepscope::wire {
namespace {

__extension__ using Wide = __int128;

// Longer than any training, and sums of a few such times still fit.
constexpr std::int64_t kEdge = std::int64_t{1} << 60;

base::Nanos bounded(Wide ns) {
  return static_cast<base::Nanos>(std::clamp<Wide>(ns, -kEdge, kEdge));
}

}  // namespace

void TickClock::add(const Anchor& anchor) {
  // A copy of the last, or a counter that ran backwards, tells nothing about its speed.
  if (!anchors_.empty() && (anchor.ticks <= anchors_.back().ticks ||
                            anchor.monotonic_ns <= anchors_.back().monotonic_ns)) {
    return;
  }
  anchors_.push_back(anchor);
}

base::Nanos TickClock::look_up(std::uint64_t ticks) const {
  if (anchors_.empty()) return bounded(static_cast<Wide>(ticks));
  if (anchors_.size() == 1) {
    // Nothing says how long a tick is: one that counts nanoseconds is the best guess there is.
    return bounded(Wide{static_cast<std::int64_t>(ticks - anchors_.front().ticks)});
  }
  const auto above = std::ranges::upper_bound(anchors_, ticks, {}, &Anchor::ticks);
  const auto index = static_cast<std::size_t>(above - anchors_.begin());
  const std::size_t at = std::min(index == 0 ? 0 : index - 1, anchors_.size() - 2);
  const Anchor& a = anchors_[at];
  const Anchor& b = anchors_[at + 1];
  const Wide before = Wide{a.monotonic_ns} - anchors_.front().monotonic_ns;
  // A second of ticks times a second of nanoseconds needs more than 64 bits.
  const auto since = Wide{static_cast<std::int64_t>(ticks - a.ticks)};
  const Wide between = Wide{b.monotonic_ns} - a.monotonic_ns;
  const auto length = static_cast<Wide>(b.ticks - a.ticks);
  constexpr Wide kMostProduct = std::numeric_limits<std::int64_t>::max();
  if (between <= kMostProduct / length) {
    near_ = {.ticks = a.ticks,
             .length = b.ticks - a.ticks,
             .between = static_cast<std::uint64_t>(between),
             .inverse = std::numeric_limits<std::uint64_t>::max() / (b.ticks - a.ticks),
             .elapsed_ns = bounded(before)};
  }
  return bounded(before + since * between / length);
}

base::Nanos TickClock::largest_set() const {
  Wide largest = 0;
  for (const Anchor& anchor : anchors_) {
    const Wide set = (Wide{anchor.wall_ns} - anchor.monotonic_ns) -
                     (Wide{anchors_.front().wall_ns} - anchors_.front().monotonic_ns);
    largest = std::max(largest, set < 0 ? -set : set);
  }
  return bounded(largest);
}

}  // namespace stepscope::wire
