// Spreads the spans of one track over lanes on which they nest, because Perfetto cannot show spans
// that overlap without nesting on one track. Spans come by start, the longer first, and go into the
// tightest open span around them, else to the first lane that is free.
#pragma once

#include <cstdint>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "base/units.h"
#include "trace/tables.h"

namespace stepscope::emit {

class SliceLanes {
 public:
  struct Span {
    trace::Row row;
    base::Nanos start, end;
    trace::Row parent;  // its caller, or kNoRow
  };
  struct Placed {
    std::uint32_t lane;
    base::Nanos end;  // earlier than asked for when clock noise made it outlive its caller
  };
  struct Ended {
    std::uint32_t lane;
    base::Nanos time;
  };

  // Which spans end before the next one begins goes to ended(), in the order in which they end.
  Placed place(const Span& span);
  void finish();  // ends all that are open
  const std::vector<Ended>& ended() const { return ended_; }

 private:
  struct Open {
    trace::Row row;
    base::Nanos end;
  };
  using Top = std::pair<base::Nanos, std::uint32_t>;  // end of a lane's innermost span, lane

  void end_until(base::Nanos time);
  std::uint32_t lane_below(trace::Row parent, base::Nanos end) const;
  std::uint32_t free_lane();
  void open(std::uint32_t lane, const Span& span, base::Nanos end);

  std::vector<std::vector<Open>> lanes_;
  std::set<Top> tops_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::vector<Ended> ended_;
};

}  // namespace stepscope::emit
