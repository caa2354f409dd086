// From ticks of a process to the wall clock, by the anchors it wrote.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "wire/format.h"

namespace stepscope::wire {

class TickClock {
 public:
  void add(const Anchor& anchor);  // in the order of the file

  bool empty() const { return anchors_.empty(); }
  // Nanoseconds since the first anchor. A wall clock that is set meanwhile is not followed, so
  // that lengths of time stay true. Between anchors a straight line, outside the line of the
  // nearest two. Ticks that no process can have counted give a time of 36 years.
  base::Nanos elapsed_ns(std::uint64_t ticks) const {
    const std::uint64_t since = ticks - near_.ticks;
    return since < near_.length ? near_.elapsed_ns + near_.nanos(since) : look_up(ticks);
  }
  // Nanoseconds since 1970 by the wall clock as it was at the first anchor.
  base::Nanos wall_ns(std::uint64_t ticks) const {
    return (anchors_.empty() ? 0 : anchors_.front().wall_ns) + elapsed_ns(ticks);
  }
  // How far the wall clock was set against the monotonic one while recording; 0 for a quiet clock.
  base::Nanos largest_set() const;

 private:
  // The line between two anchors. Records come in order, so the next is nearly always on the same.
  struct Line {
    std::uint64_t ticks = 0;
    std::uint64_t length = 0;  // in ticks; 0: not to be used
    std::uint64_t between = 0;
    std::uint64_t inverse = 0;   // of the length, in parts of 2^64
    base::Nanos elapsed_ns = 0;  // at its beginning

    // since * between / length without a division, which would cost more than the record does.
    base::Nanos nanos(std::uint64_t since) const {
      __extension__ using Wide = unsigned __int128;
      const std::uint64_t product = since * between;
      auto quotient = static_cast<std::uint64_t>((static_cast<Wide>(product) * inverse) >> 64);
      while (product - quotient * length >= length) ++quotient;  // at most twice
      return static_cast<base::Nanos>(quotient);
    }
  };
  base::Nanos look_up(std::uint64_t ticks) const;

  std::vector<Anchor> anchors_;  // by ticks
  mutable Line near_;
};

}  // namespace stepscope::wire
