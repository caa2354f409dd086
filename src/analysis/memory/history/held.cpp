#include "analysis/memory/history/held.h"

#include <algorithm>
#include <tuple>

namespace stepscope::analysis {

Held held_at(const HistoryWork& work, std::uint32_t event) {
  Held out;
  out.event = event;
  for (LifeId id = 0; id < work.lives.list.size(); ++id) {
    if (is_held(work.lives.list[id], event)) out.lives.push_back(id);
  }
  std::vector<LifeId> order = out.lives;
  const auto key = [&](LifeId id) {
    return std::tuple(work.group[id], work.categories.category[id], id);
  };
  std::ranges::sort(order, {}, key);
  for (const LifeId id : order) {
    const Category category = work.categories.category[id];
    const bool same = !out.stacks.empty() && out.stacks.back().group == work.group[id] &&
                      out.stacks.back().category == category;
    if (!same) out.stacks.push_back({work.group[id], category, {}});
    out.stacks.back().sum.add(id, work.followed.block_size[id]);
  }
  for (const LifeId id : out.lives) {
    const base::Bytes size = work.followed.block_size[id];
    out.all.add(id, size);
    out.categories[static_cast<std::size_t>(work.categories.category[id])].add(id, size);
  }
  std::ranges::stable_sort(out.stacks, std::ranges::greater{},
                           [](const HeldStack& stack) { return stack.sum.bytes; });
  return out;
}

}  // namespace stepscope::analysis
