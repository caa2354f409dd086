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
  // Nanoseconds since 1970 by the wall clock as it was at the first anchor: it is not followed when
  // somebody sets it, so that lengths of time stay true. Between anchors a straight line, outside
  // the line of the nearest two.
  base::Nanos wall_ns(std::uint64_t ticks) const;
  // How far the wall clock was set against the monotonic one while recording; 0 for a quiet clock.
  base::Nanos largest_set() const;

 private:
  std::vector<Anchor> anchors_;   // by ticks
  mutable std::size_t near_ = 0;  // records come in order, so the next is nearly always here
};

}  // namespace stepscope::wire
