// A history reduced to a few moments: it is cut into stretches, and each is shown as it was when
// the most was allocated in it. So no peak is lost, however few the points. Over time, what holds
// until the next event or to the end, and where steps begin, is shown as well.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/history/allocated.h"

namespace stepscope::analysis {

struct TimelinePoint {
  std::uint32_t event = 0;
  base::Bytes bytes = 0;
  std::array<base::Bytes, kCategories> categories = {};
  std::vector<std::vector<base::Bytes>> groups;  // of those that were asked for, in their order

  // What none of the groups shown has.
  base::Bytes rest(std::size_t grouping) const {
    base::Bytes left = bytes;
    for (const base::Bytes part : groups[grouping]) left -= part;
    return left;
  }
};

// One way to part allocations among owners, and the owners that are followed.
struct TimelineGroups {
  std::span<const std::uint32_t> of_allocation;
  std::vector<std::uint32_t> shown;
};

enum class TimelineAxis : std::uint8_t {
  kEvents,
  kTime
};  // what the stretches have equal parts of

// Points in the order of events; 0 points: every event that changes something.
std::vector<TimelinePoint> timeline_points(const HistoryWork& work, const Allocated& curve,
                                           TimelineAxis axis, std::size_t points,
                                           std::span<const TimelineGroups> groups);

}  // namespace stepscope::analysis
