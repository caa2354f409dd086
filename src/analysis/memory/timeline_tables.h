// The tables of memory-timeline.
#pragma once

#include <array>
#include <cstddef>

#include "base/table.h"

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

}  // namespace stepscope::analysis
