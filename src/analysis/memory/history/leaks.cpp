// Finds places of the program that keep more memory step after step.
#include "analysis/memory/history/leaks.h"

#include <algorithm>
#include <tuple>

namespace stepscope::analysis {
namespace {

constexpr std::uint32_t kStepsForMedium = 3, kStepsForHigh = 5;
constexpr std::uint32_t kPartsForLow = 7;  // of equal parts, which say less than steps

struct Member {
  std::uint32_t group = 0;
  AllocationId life = kNoAllocation;
  std::int32_t born = 0;  // step
  std::int32_t last = 0;  // step it was last used in; the number of steps: beyond all of them
};

std::vector<Member> members_of(const Allocations& allocations, std::span<const std::uint32_t> group,
                               const StepEvents& steps) {
  std::vector<Member> members;
  const auto count = static_cast<std::int32_t>(steps.size());
  for (std::size_t id = allocations.older; id < allocations.list.size(); ++id) {
    const Allocation& life = allocations.list[id];
    const std::int32_t born = steps.at(life.alloc);
    if (born < 0) continue;
    std::int32_t last = count;
    if (life.used_until() != kNoEvent) {
      const std::int32_t at = steps.at(life.used_until());
      // What is let go after the last step was kept to its end, but not for ever.
      last = at >= 0 ? at : count - 1;
    }
    members.push_back({group[id], static_cast<AllocationId>(id), born, last});
  }
  std::ranges::sort(members, {}, [](const Member& m) { return std::tuple(m.group, m.life); });
  return members;
}

Confidence confidence_of(const Leak& leak, StepBorders from) {
  if (from == StepBorders::kEqualParts || leak.steps < kStepsForMedium) return Confidence::kLow;
  return leak.steps >= kStepsForHigh && leak.steps == leak.of_steps ? Confidence::kHigh
                                                                    : Confidence::kMedium;
}

void add_leak(std::span<const Member> members, const StepEvents& steps, Leaks& out) {
  const auto count = static_cast<std::int32_t>(steps.size());
  // How long this place keeps what it does free, in steps.
  std::int32_t kept = 0;
  for (const Member& m : members) {
    if (m.last < count) kept = std::max(kept, m.last - m.born);
  }
  // Younger ones may just be waiting for that.
  const std::int32_t last_representative = count - 2 - kept;
  Leak leak;
  leak.group = members.front().group;
  std::vector<bool> left(steps.size());
  for (const Member& m : members) {
    if (m.last < count || m.born == 0 || m.born > last_representative) continue;
    leak.allocations.push_back(m.life);
    left[static_cast<std::size_t>(m.born)] = true;
  }
  const auto first = std::ranges::find(left, true);
  if (first == left.end()) return;
  leak.first_step = static_cast<std::int32_t>(first - left.begin());
  leak.steps = static_cast<std::uint32_t>(std::ranges::count(left, true));
  leak.of_steps = static_cast<std::uint32_t>(last_representative - leak.first_step + 1);
  const bool goes_on =
      left[static_cast<std::size_t>(last_representative)] ||
      (last_representative > 0 && left[static_cast<std::size_t>(last_representative - 1)]);
  const std::uint32_t least = steps.from == StepBorders::kEqualParts ? kPartsForLow : 2;
  if (leak.steps < least || !goes_on || 5 * leak.steps < 3 * leak.of_steps) return;
  leak.confidence = confidence_of(leak, steps.from);
  out.list.push_back(std::move(leak));
}

void add_outliving(std::span<const Member> members, const Allocations& allocations,
                   const StepEvents& steps, Leaks& out) {
  const auto count = static_cast<std::int32_t>(steps.size());
  Outliving all;
  all.group = members.front().group;
  all.size = allocations.list[members.front().life].requested;
  for (const Member& m : members) {
    if (m.born == 0 || m.born >= count - 1) continue;
    ++all.all;
    if (m.last < m.born + 2) continue;
    if (all.outlive++ == 0) {
      all.first = m.life;
      all.first_step = m.born;
    }
    if (m.last == count) ++all.alive;
  }
  if (all.outlive > 0 && 2 * all.outlive <= all.all) out.outliving.push_back(all);
}

template <class Same, class Use>
void for_each_run(std::span<const Member> members, Same same, Use use) {
  for (std::size_t i = 0; i < members.size();) {
    std::size_t end = i + 1;
    while (end < members.size() && same(members[i], members[end])) ++end;
    use(members.subspan(i, end - i));
    i = end;
  }
}

}  // namespace

std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::kHigh:
      return "high";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kLow:
      break;
  }
  return "low";
}

Leaks find_leaks(const Allocations& allocations, std::span<const std::uint32_t> group,
                 const StepEvents& steps) {
  Leaks out;
  if (steps.size() < 3) return out;
  out.telling_steps = steps.size() - 2;
  std::vector<Member> members = members_of(allocations, group, steps);
  for_each_run(
      members, [](const Member& a, const Member& b) { return a.group == b.group; },
      [&](std::span<const Member> run) { add_leak(run, steps, out); });
  for (Leak& leak : out.list) {
    for (const AllocationId id : leak.allocations) leak.bytes += allocations.list[id].requested;
  }
  std::ranges::stable_sort(out.list, [](const Leak& a, const Leak& b) {
    return a.bytes_per_step() > b.bytes_per_step();
  });
  if (steps.from == StepBorders::kEqualParts) return out;
  const auto size_of = [&](const Member& m) { return allocations.list[m.life].requested; };
  std::ranges::sort(members, {},
                    [&](const Member& m) { return std::tuple(m.group, size_of(m), m.life); });
  for_each_run(
      members,
      [&](const Member& a, const Member& b) {
        return a.group == b.group && size_of(a) == size_of(b);
      },
      [&](std::span<const Member> run) { add_outliving(run, allocations, steps, out); });
  std::ranges::stable_sort(out.outliving, std::ranges::greater{}, [](const Outliving& o) {
    return o.size * static_cast<base::Bytes>(o.outlive);
  });
  return out;
}

}  // namespace stepscope::analysis
