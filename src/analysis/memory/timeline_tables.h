// The tables of memory-timeline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/view.h"
#include "base/table.h"
#include "base/units.h"

namespace stepscope::analysis {

enum TimelineTable : std::size_t {
  kShapeTable,
  kPointTable,
  kStepTable,
  kPassTable,
  kStackTable,
  kModuleTable,
  kAnnotationTable,
  kTimelineTables
};

extern const std::array<base::TableShape, kTimelineTables> kTimelineShapes;  // drawn over events
extern const std::array<base::TableShape, kTimelineTables> kTimelineShapesByTime;

// A history reduced to a few moments: it is cut into stretches, and each is shown as it was when
// the most was allocated in it. So no peak is lost, however few the points. Over time, what holds
// until the next event or to the end, and where steps begin, is shown as well.

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

// A long curve made short without losing its peaks: cut into stretches, of each its highest place.

// Of equally many places each.
inline auto stretches_of_places(std::size_t places, std::size_t points) {
  return [=](std::size_t place) { return place * points / places; };
}

// Of equal length in time each; `when(place)` does not fall.
template <class Time>
auto stretches_of_time(std::size_t places, std::size_t points, Time when) {
  __extension__ using Wide = __int128;
  const base::Nanos first = when(0);
  const base::Nanos length = when(places - 1) - first + 1;
  return [=](std::size_t place) {
    const auto at = static_cast<Wide>(when(place) - first);
    return static_cast<std::size_t>(at * static_cast<Wide>(points) / length);
  };
}

// The first of the highest places of every stretch that has one.
template <class Stretch, class Height>
std::vector<std::uint32_t> highest_of(std::uint32_t places, Stretch stretch, Height height) {
  std::vector<std::uint32_t> found;
  std::size_t last = 0;
  for (std::uint32_t place = 0; place < places; ++place) {
    const std::size_t now = stretch(place);
    if (found.empty() || now != last) {
      found.push_back(place);
      last = now;
    } else if (height(place) > height(found.back())) {
      found.back() = place;
    }
  }
  return found;
}

// Over time, where stretches may have no place: what holds over those is the last place before, not
// the highest, and so it is at the end; they are given as well. No two have the same time.
template <class When, class Height>
std::vector<std::uint32_t> highest_over_time(std::uint32_t places, std::size_t points, When when,
                                             Height height) {
  const auto stretch = stretches_of_time(places, points, when);
  std::vector<std::uint32_t> found;
  for (const std::uint32_t highest : highest_of(places, stretch, height)) {
    if (!found.empty()) {
      // The last place of the stretch before.
      std::uint32_t held = highest;
      while (stretch(held) == stretch(highest)) --held;
      const bool is_gap = stretch(highest) > stretch(held) + 1;
      if (is_gap && when(held) > when(found.back())) found.push_back(held);
    }
    found.push_back(highest);
  }
  if (places > 0 && when(places - 1) > when(found.back())) found.push_back(places - 1);
  return found;
}

// The rows of a timeline: by what the memory holds, by the line that asked for it, by module and by
// annotation.

struct TimelineDevice {
  const RunView& run;
  const SnapshotView& view;
  const SnapshotWork& snapshot;
  const HistoryWork& work;
  const Allocated& curve;
  std::optional<std::uint32_t> floor;  // the event that touches it first
  std::uint32_t floor_from = 0;        // the last event of the first step: from there on it holds
};

TimelineAxis axis_of(const Options& options);

// Into the tables of memory-timeline.
void add_points(std::vector<base::Table>& tables, const TimelineDevice& of, const Options& options);

// An exported timeline of torch.profiler as rows of memory-timeline: the same columns, with what
// torch's categories say.

// `points` stretches of equally many points or time, each as it was when it had the most; 0: all.
void add_exported(Answer& answer, const ExportedView& view, std::size_t points, TimelineAxis axis);

}  // namespace stepscope::analysis
