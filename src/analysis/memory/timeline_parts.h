// The rows of a timeline: by what the memory holds, by the line that asked for it, by module and by
// annotation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/memory/timeline_points.h"
#include "analysis/view.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
