// Links between events: device work to the call that launched it, a call to the operator that made
// it, a backward operator to its forward one. Correlation and containment first, ids second.
#pragma once

#include "trace/trace.h"

namespace stepscope::trace {

struct LinkInput {
  std::span<const base::Nanos> start, duration;
  std::span<const Kind> kind;
  std::span<const std::uint32_t> track;
  std::span<const Row> parent;
  std::span<const Track> tracks;
  const base::StringTable* strings;
};

struct LinkCounts {
  std::uint64_t without_launch = 0, shared = 0, before = 0;
  Row first_without = kNoRow, first_shared = kNoRow, first_before = kNoRow;
};

// Fills device.launch, launches.first and launches.work.
LinkCounts link_launches(const LinkInput& in, DeviceTable& device, LaunchTable& launches);

// Fills launches.op.
void link_ops(const LinkInput& in, const OpTable& ops, LaunchTable& launches, unsigned threads);

// Fills the backward table (whose RowSet is sized but empty).
void link_backward(const LinkInput& in, const OpTable& ops, const FlowTable& flows,
                   BackwardTable& backward);

}  // namespace stepscope::trace
