#include "wire/ticks.h"

#include <algorithm>

namespace stepscope::wire {

void TickClock::add(const Anchor& anchor) {
  // A copy of the last, or a counter that ran backwards, tells nothing about its speed.
  if (!anchors_.empty() && (anchor.ticks <= anchors_.back().ticks ||
                            anchor.monotonic_ns <= anchors_.back().monotonic_ns)) {
    return;
  }
  anchors_.push_back(anchor);
}

base::Nanos TickClock::wall_ns(std::uint64_t ticks) const {
  if (anchors_.empty()) return static_cast<base::Nanos>(ticks);
  const base::Nanos offset = anchors_.front().wall_ns - anchors_.front().monotonic_ns;
  if (anchors_.size() == 1) {
    // Nothing says how long a tick is: one that counts nanoseconds is the best guess there is.
    const auto since = static_cast<std::int64_t>(ticks - anchors_.front().ticks);
    return anchors_.front().wall_ns + since;
  }
  const std::size_t last = anchors_.size() - 2;
  std::size_t at = std::min(near_, last);
  if (ticks < anchors_[at].ticks || ticks >= anchors_[at + 1].ticks) {
    const auto above = std::ranges::upper_bound(anchors_, ticks, {}, &Anchor::ticks);
    const auto index = static_cast<std::size_t>(above - anchors_.begin());
    at = std::min(index == 0 ? 0 : index - 1, last);
    near_ = at;
  }
  const Anchor& a = anchors_[at];
  const Anchor& b = anchors_[at + 1];
  __extension__ using Wide = __int128;
  // A second of ticks times a second of nanoseconds needs more than 64 bits.
  const auto since = static_cast<Wide>(static_cast<std::int64_t>(ticks - a.ticks));
  const auto between = static_cast<Wide>(b.monotonic_ns - a.monotonic_ns);
  const auto length = static_cast<Wide>(b.ticks - a.ticks);
  return a.monotonic_ns + static_cast<base::Nanos>(since * between / length) + offset;
}

base::Nanos TickClock::largest_set() const {
  base::Nanos largest = 0;
  for (const Anchor& anchor : anchors_) {
    const base::Nanos set = (anchor.wall_ns - anchor.monotonic_ns) -
                            (anchors_.front().wall_ns - anchors_.front().monotonic_ns);
    largest = std::max(largest, set < 0 ? -set : set);
  }
  return largest;
}

}  // namespace stepscope::wire
