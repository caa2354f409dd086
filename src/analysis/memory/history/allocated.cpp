// How much the program had allocated at each moment of a history.
#include "analysis/memory/history/allocated.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace stepscope::analysis {

Allocated allocated(const HistoryWork& work) {
  Allocated out;
  out.after.assign(work.history->length(), 0);
  const std::vector<Allocation>& allocations = work.allocations.list;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    if (allocations[i].let_go_before) continue;
    const base::Bytes size = work.replay.block_size[i];
    if (allocations[i].is_older()) {
      out.before += size;
    } else {
      out.after[allocations[i].alloc] += size;
    }
    if (allocations[i].used_until() != kNoEvent) out.after[allocations[i].used_until()] -= size;
  }
  out.peak_bytes = out.before;
  base::Bytes now = out.before;
  for (std::uint32_t event = 0; event < out.after.size(); ++event) {
    now = out.after[event] += now;
    if (now <= out.peak_bytes) continue;
    out.peak_bytes = now;
    out.peak = event;
  }
  return out;
}

double mean_over_time(const HistoryWork& work, const std::vector<base::Bytes>& after) {
  const auto times = work.history->time.span();
  if (times.empty() || times.front() == memory::kNoTime || times.back() <= times.front()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    sum += static_cast<Wide>(after[i]) * std::max<base::Nanos>(times[i + 1] - times[i], 0);
  }
  return static_cast<double>(sum) / static_cast<double>(times.back() - times.front());
}

std::optional<std::int64_t> step_number(const HistoryWork& work, std::uint32_t event) {
  if (event == kNoEvent || work.steps.from == StepBorders::kEqualParts) return std::nullopt;
  const std::int32_t step = work.steps.at(event);
  if (step < 0) return std::nullopt;
  return work.steps.number[static_cast<std::size_t>(step)];
}

std::string_view pass_name(const HistoryWork& work, std::uint32_t event) {
  if (event == kNoEvent) return {};
  const std::vector<Pass>& passes = work.categories.passes.list;
  const auto after = std::ranges::upper_bound(passes, event, {}, &Pass::begin);
  if (after == passes.begin()) return {};
  const Pass& last = *std::prev(after);
  return event < last.end ? name_of(last.kind) : std::string_view();
}

std::optional<base::Nanos> time_of(const HistoryWork& work, std::uint32_t event) {
  const auto times = work.history->time.span();
  if (times.empty() || times.front() == memory::kNoTime) return std::nullopt;
  return event == kNoEvent ? 0 : times[event] - times.front();
}

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
