#include "analysis/memory/simulated/simulated_requests.h"

namespace stepscope::analysis {

using memory::Action;
using memory::History;

bool takes_memory(Action action) {
  return action == Action::kSegmentAlloc || action == Action::kSegmentMap;
}
bool returns_memory(Action action) {
  return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
}

std::size_t returns_end(const History& history, std::size_t first) {
  std::size_t end = first;
  while (end < history.length() && returns_memory(history.action[end])) ++end;
  return end;
}

bool makes_room(const History& history, std::size_t first, std::size_t end) {
  if (end >= history.length()) return false;
  if (history.action[end] == Action::kOom) return true;
  return takes_memory(history.action[end]) && history.stack[first] != memory::kNoStack &&
         history.stack[first] == history.stack[end];
}

Requests requests_of(const History& history, const Allocations& allocations, const Replay& replay) {
  Requests out{&history, &allocations, &replay, {}, {}};
  using Kind = Request::Kind;
  const Action end_of_life =
      allocations.let_go_is_free ? Action::kFreeRequested : Action::kFreeCompleted;
  const auto add = [&](Kind kind, std::size_t of) {
    out.list.push_back({kind, static_cast<std::uint32_t>(of)});
  };
  out.list.reserve(history.length());
  for (std::size_t i = 0; i < history.length(); ++i) {
    const Action action = history.action[i];
    if (action == Action::kAlloc) {
      add(Kind::kTake, allocations.of_event[i]);
    } else if (action == end_of_life) {
      if (allocations.of_event[i] != kNoAllocation) add(Kind::kGiveBack, allocations.of_event[i]);
    } else if (returns_memory(action)) {
      add(Kind::kRelease, i);
      i = returns_end(history, i) - 1;
    } else if (action == Action::kOom) {
      add(Kind::kFail, i);
    }
  }
  out.requested.reserve(allocations.list.size());
  for (const Allocation& life : allocations.list) out.requested.push_back(life.requested);
  return out;
}

}  // namespace stepscope::analysis
