// Histories made by an allocator of our own out of random requests: of several streams, with frees
// that wait for another stream, and with everything unused returned now and then.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "analysis/memory/allocator/caching.h"
#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {

struct RandomHistory {
  memory::Snapshot snapshot;
  allocator::Statistics statistics;  // of the allocator that made it
};

inline RandomHistory random_history(const allocator::Rules& rules, std::uint32_t seed,
                                    std::size_t requests) {
  using allocator::DriverAction;
  using memory::Action;
  struct Held {
    allocator::BlockId block;
    base::Bytes size;
    std::int64_t stream;
  };
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  allocator::Caching caching(rules, std::nullopt);
  std::vector<allocator::DriverCall> calls;
  caching.calls = &calls;
  SnapshotForTests made;
  const auto flush = [&](std::int64_t stream) {
    for (const allocator::DriverCall& call : calls) {
      Action action = Action::kSegmentAlloc;
      if (call.action == DriverAction::kFree) action = Action::kSegmentFree;
      if (call.action == DriverAction::kMap) action = Action::kSegmentMap;
      if (call.action == DriverAction::kUnmap) action = Action::kSegmentUnmap;
      made.event({action, call.address, call.size, memory::kNoStack, memory::kNoTime, stream});
    }
    calls.clear();
  };
  const auto note = [&](Action action, const Held& held) {
    made.event({action, caching[held.block].address, held.size, memory::kNoStack, memory::kNoTime,
                held.stream});
  };
  std::vector<Held> in_use, waiting;
  const auto take_one = [&](std::vector<Held>& from) {
    const std::size_t i = below(static_cast<std::uint32_t>(from.size()));
    const Held held = from[i];
    from[i] = from.back();
    from.pop_back();
    return held;
  };
  const auto complete = [&](const Held& held) {
    note(Action::kFreeCompleted, held);
    caching.complete_free(held.block);
  };
  for (std::size_t i = 0; i < requests; ++i) {
    if (!waiting.empty() && below(3) == 0) complete(take_one(waiting));
    while (!in_use.empty() && below(100) < 40 + in_use.size() / 8) {
      const Held held = take_one(in_use);
      note(Action::kFreeRequested, held);
      caching.request_free(held.block);
      if (below(10) == 0) {
        waiting.push_back(held);
      } else {
        complete(held);
      }
    }
    // Pages of one stream only, so that every call is noted with the stream it is of.
    if (below(500) == 0 && !rules.expandable_segments) {
      caching.release_cached(0);
      flush(0);
    }
    const std::uint32_t exponent = 6 + below(21);
    const base::Bytes size = 1 + static_cast<base::Bytes>(below(1u << exponent));
    const std::int64_t stream = below(4) == 0 ? 7 : 0;
    const bool small = rules.is_small(rules.rounded(size));
    const std::uint32_t bin = caching.bin({stream, 0, small});
    const Held held{caching.request(bin, size, rules.rounded(size), 0), size, stream};
    flush(stream);
    note(Action::kAlloc, held);
    in_use.push_back(held);
  }
  return {made.make(), caching.statistics()};
}

}  // namespace stepscope::analysis
