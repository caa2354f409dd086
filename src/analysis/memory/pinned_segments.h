// Segments that cannot be returned to the driver although most of them is free: a block that is in
// use holds the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {

struct PinnedSegment {
  const memory::Segment* segment = nullptr;
  base::Bytes used = 0, free = 0, largest_free = 0;
  std::uint32_t used_blocks = 0;
  std::uint32_t smallest = 0;         // in Snapshot::blocks: the smallest block in use
  AllocationId life = kNoAllocation;  // of that block
};

// At the end of the history; the most free memory first. Expandable segments return free pages and
// are not among them.
std::vector<PinnedSegment> pinned_segments(const memory::Snapshot& snapshot,
                                           const memory::History& history,
                                           const Allocations& allocations);

}  // namespace stepscope::analysis
