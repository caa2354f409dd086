#include "analysis/memory/pinned_segments.h"

#include <algorithm>

namespace stepscope::analysis {

std::vector<PinnedSegment> pinned_segments(const memory::Snapshot& snapshot,
                                           const memory::History& history,
                                           const Allocations& allocations) {
  std::vector<AllocationId> life_of(snapshot.blocks.size(), kNoAllocation);
  for (std::size_t id = 0; id < allocations.list.size(); ++id) {
    if (allocations.list[id].block < life_of.size()) {
      life_of[allocations.list[id].block] = static_cast<AllocationId>(id);
    }
  }
  std::vector<PinnedSegment> out;
  for (const memory::Segment& segment : snapshot.segments) {
    if (segment.device != history.device || segment.is_host != history.is_host ||
        segment.is_expandable) {
      continue;
    }
    PinnedSegment pinned;
    pinned.segment = &segment;
    for (std::uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
      const memory::Block& block = snapshot.blocks[b];
      if (block.state == memory::BlockState::kInactive) {
        pinned.free += block.size;
        pinned.largest_free = std::max(pinned.largest_free, block.size);
        continue;
      }
      if (pinned.used_blocks++ == 0 || block.size < snapshot.blocks[pinned.smallest].size) {
        pinned.smallest = b;
      }
      pinned.used += block.size;
    }
    if (pinned.used_blocks == 0 || pinned.free == 0) continue;
    pinned.life = life_of[pinned.smallest];
    out.push_back(pinned);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &PinnedSegment::free);
  return out;
}

}  // namespace stepscope::analysis
