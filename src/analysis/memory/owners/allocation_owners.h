// Whom each allocation belongs to besides its line of code: the annotation it was made in, and the
// nn.Module that ran. Definitions: docs/metrics/memory-timeline.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/memory/snapshot_work.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct Owners {
  static constexpr std::uint32_t kNobody = 0xffffffff;
  std::vector<std::string> names;            //
  std::vector<std::uint32_t> of_allocation;  // by life: into names, or kNobody
  std::string_view from;                     // who says it; empty: nobody does
};

// The innermost annotation that was open when it was asked for, whichever the thread. Those of the
// snapshot; where it has none, those of a trace of the same rank and time. Marks of steps are none.
Owners annotation_owners(const RunView& run, const SnapshotView& view, const HistoryWork& work);

// The module that ran, or whose backward pass did: from a trace of the same rank and time that
// names modules, else from the calls of modules in the Python stacks. At most `depth` levels; 0:
// all.
Owners module_owners(const RunView& run, const SnapshotView& view, const HistoryWork& work,
                     std::size_t depth);

}  // namespace stepscope::analysis
