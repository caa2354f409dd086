// Puts the events of a track on rows on which they do not overlap, each below its caller.
#pragma once

#include <cstdint>
#include <vector>

#include "session/timeline/lane.h"
#include "trace/trace.h"

namespace stepscope::session {

inline constexpr std::size_t kMostLanes = 512;

struct TrackLanes {
  std::vector<Lane> lanes;
  std::uint64_t events = 0;
  std::uint64_t not_drawn = 0;  // at implausible times, or no row was free
};

// Allocations and counters are lines over time, not events on a row.
TrackLanes lanes_of(const trace::Trace& trace, const trace::Track& track);

}  // namespace stepscope::session
