#include "analysis/memory/history/held.h"

#include <algorithm>
#include <tuple>

namespace stepscope::analysis {

Held held_at(const HistoryWork& work, std::uint32_t event) {
  Held out;
  out.event = event;
  for (AllocationId id = 0; id < work.allocations.list.size(); ++id) {
    if (is_held(work.allocations.list[id], event)) out.allocations.push_back(id);
  }
  std::vector<AllocationId> order = out.allocations;
  const auto key = [&](AllocationId id) {
    return std::tuple(work.group[id], work.categories.category[id], id);
  };
  std::ranges::sort(order, {}, key);
  for (const AllocationId id : order) {
    const Category category = work.categories.category[id];
    const bool same = !out.stacks.empty() && out.stacks.back().group == work.group[id] &&
                      out.stacks.back().category == category;
    if (!same) out.stacks.push_back({work.group[id], category, {}});
    out.stacks.back().sum.add(id, work.replay.block_size[id]);
  }
  for (const AllocationId id : out.allocations) {
    const base::Bytes size = work.replay.block_size[id];
    out.all.add(id, size);
    out.categories[static_cast<std::size_t>(work.categories.category[id])].add(id, size);
  }
  std::ranges::stable_sort(out.stacks, std::ranges::greater{},
                           [](const HeldStack& stack) { return stack.sum.bytes; });
  return out;
}

}  // namespace stepscope::analysis
