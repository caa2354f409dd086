// How much the program had allocated at each moment of a history: blocks as torch's
// memory_allocated() counts them, from the allocation until the program lets go.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/memory/snapshot_work.h"

namespace stepscope::analysis {

// The moment before the first event is a moment too: event kNoEvent.
struct Allocated {
  base::Bytes before = 0;          // what is older than the history
  std::vector<base::Bytes> after;  // by event
  std::uint32_t peak = kNoEvent;   // the event after which it was first the most
  base::Bytes peak_bytes = 0;      //

  base::Bytes at(std::uint32_t event) const { return event == kNoEvent ? before : after[event]; }
  base::Bytes end() const { return after.empty() ? before : after.back(); }
};
Allocated allocated(const HistoryWork& work);

// Whether the program has it after this event; kNoEvent: before the first.
inline bool is_held(const Allocation& life, std::uint32_t event) {
  if (life.let_go_before) return false;
  if (event == kNoEvent) return life.is_older();
  return (life.is_older() || life.alloc <= event) &&
         (life.used_until() == kNoEvent || life.used_until() > event);
}

// Calls visit(event, life, is_begin) for every change of what is held, in the order of events.
template <class Visit>
void for_each_change(const HistoryWork& work, Visit visit) {
  const std::vector<Allocation>& allocations = work.allocations.list;
  // Ends that were only seen when another life began at the address.
  std::vector<std::pair<std::uint32_t, AllocationId>> seen;
  for (AllocationId id = 0; id < allocations.size(); ++id) {
    if (allocations[id].end_unknown && allocations[id].let_go == kNoEvent)
      seen.emplace_back(allocations[id].freed, id);
  }
  std::sort(seen.begin(), seen.end());
  auto next = seen.begin();
  for (std::uint32_t event = 0; event < work.history->length(); ++event) {
    for (; next != seen.end() && next->first == event; ++next) visit(event, next->second, false);
    const AllocationId id = work.allocations.of_event[event];
    if (id == kNoAllocation) continue;
    const Allocation& life = allocations[id];
    if (life.let_go_before) continue;
    if (life.alloc == event) visit(event, id, true);
    if (life.used_until() == event && !(life.end_unknown && life.let_go == kNoEvent)) {
      visit(event, id, false);
    }
  }
}

// Mean over time between the first and the last event; NaN where the history has no times.
double mean_over_time(const HistoryWork& work, const std::vector<base::Bytes>& after);

// Which step an event is of, as a cell's value: not set where nothing marks steps.
std::optional<std::int64_t> step_number(const HistoryWork& work, std::uint32_t event);
// "forward", "backward", "optimizer", or empty.
std::string_view pass_name(const HistoryWork& work, std::uint32_t event);
// Since the first event; not set where no times were recorded.
std::optional<base::Nanos> time_of(const HistoryWork& work, std::uint32_t event);

// What the program held at one moment, added up by stack and category.

struct HeldSum {
  base::Bytes bytes = 0;
  std::uint64_t allocations = 0;
  base::Bytes largest = 0;
  AllocationId oldest = kNoAllocation;  // the first of them

  void add(AllocationId life, base::Bytes size) {
    bytes += size;
    ++allocations;
    if (size > largest) largest = size;
    if (oldest == kNoAllocation) oldest = life;
  }
};

// One group of stacks, with one category of what was allocated there.
struct HeldStack {
  std::uint32_t group = 0;  // of StackTexts
  Category category = Category::kUnknown;
  HeldSum sum;
};

struct Held {
  std::uint32_t event = kNoEvent;
  HeldSum all;
  std::array<HeldSum, kCategories> categories;
  std::vector<HeldStack> stacks;          // the most bytes first
  std::vector<AllocationId> allocations;  // in the order of Allocations::list
};

Held held_at(const HistoryWork& work, std::uint32_t event);

}  // namespace stepscope::analysis
