// Checks that the simulated allocator asks the driver for the same memory as recorded.
#include <algorithm>

#include "analysis/memory/simulated/simulated.h"

namespace stepscope::analysis {
namespace {

using allocator::DriverAction;
using allocator::DriverCall;
using allocator::Rules;
using memory::Action;
using memory::History;

DriverCall call_at(const History& history, std::size_t event) {
  DriverAction action = DriverAction::kAlloc;
  switch (history.action[event]) {
    case Action::kSegmentFree:
      action = DriverAction::kFree;
      break;
    case Action::kSegmentMap:
      action = DriverAction::kMap;
      break;
    case Action::kSegmentUnmap:
      action = DriverAction::kUnmap;
      break;
    default:
      break;
  }
  return {action, history.address[event], history.size[event]};
}

// Whether the driver is asked for the same as recorded, event by event.
class Comparison {
 public:
  explicit Comparison(const Requests& requests)
      : history_(*requests.history),
        allocations_(*requests.allocations),
        rules_(requests.replay->rules),
        replay_(requests, rules_, {}) {}

  Reproduction run() {
    replay_.begin_as_recorded();
    replay_.caching().calls = &made_;
    const Action end_of_life =
        allocations_.let_go_is_free ? Action::kFreeRequested : Action::kFreeCompleted;
    for (std::size_t i = 0; i < history_.length() && out_.why.empty(); ++i) {
      const Action action = history_.action[i];
      if (takes_memory(action)) {
        recorded_.push_back(call_at(history_, i));
        replay_.caching().expect(history_.address[i]);
      } else if (returns_memory(action)) {
        const std::size_t end = returns_end(history_, i);
        compare_returns(i, end);
        i = end - 1;
      } else if (action == Action::kAlloc) {
        compare_request(i);
      } else if (action == end_of_life && allocations_.of_event[i] != kNoAllocation) {
        replay_.give_back(allocations_.of_event[i]);
      }
    }
    out_.is_same = out_.why.empty();
    return std::move(out_);
  }

 private:
  void depart(std::size_t event, std::string why) {
    out_.first_departure = static_cast<std::uint32_t>(event);
    out_.why = std::move(why);
  }

  void compare_request(std::size_t event) {
    made_.clear();
    replay_.take(allocations_.of_event[event]);
    if (made_.size() < recorded_.size()) {
      depart(event, "memory was taken from the driver though a free block fits");
    } else if (made_.size() > recorded_.size()) {
      depart(event, "a cached block was used though none fits");
    } else if (made_ != recorded_) {
      depart(event, "another amount of memory was taken from the driver");
    } else if (replay_.address_of(allocations_.of_event[event]) != history_.address[event]) {
      ++out_.other_places;
    }
    out_.driver_calls += recorded_.size();
    recorded_.clear();
    replay_.caching().expect_nothing();
  }

  void compare_returns(std::size_t first, std::size_t end) {
    out_.driver_calls += end - first;
    std::vector<DriverCall> returned;
    for (std::size_t i = first; i < end; ++i) returned.push_back(call_at(history_, i));
    made_.clear();
    const bool chooses = rules_.collect_above > 0 || rules_.max_split_size != allocator::kNoLimit;
    if (chooses) {
      // Which ones go depends on the driver's state: taken as recorded, if they can go at all.
      for (const DriverCall& call : returned) replay_.caching().release_segment(call.address);
    } else {
      replay_.release(first, end);
    }
    std::ranges::sort(returned);
    std::ranges::sort(made_);
    if (made_ != returned) depart(first, "other segments were returned to the driver");
  }

  const History& history_;
  const Allocations& allocations_;
  Rules rules_;
  RequestReplay replay_;
  std::vector<DriverCall> made_, recorded_;
  Reproduction out_;
};

}  // namespace

Reproduction reproduce(const Requests& requests) {
  const Replay& replay = *requests.replay;
  if (!replay.is_exact()) {
    Reproduction out;
    out.first_departure = replay.doubts.first_event;
    out.why = "the recorded history and the allocator's rules do not agree";
    return out;
  }
  return Comparison(requests).run();
}

}  // namespace stepscope::analysis
