#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/memory/allocator/caching.h"
#include "analysis/memory/simulated/simulated.h"
#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

// Histories made by an allocator of our own out of random requests: of several streams, with frees
// that wait for another stream, and with everything unused returned now and then.

struct RandomHistory {
  memory::Snapshot snapshot;
  allocator::Statistics statistics;  // of the allocator that made it
};

RandomHistory random_history(const allocator::Rules& rules, std::uint32_t seed,
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

using allocator::kMiB;
using allocator::Part;
using allocator::Rules;
using allocator::Stat;

// What one allocator did is followed exactly by address, and done again without addresses.
void expect_replayed(const Rules& rules, const memory::Settings& settings) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    RandomHistory made = random_history(rules, seed, 1500);
    made.snapshot.settings = settings;
    const memory::History& history = made.snapshot.histories[0];
    const Allocations allocations = find_allocations(made.snapshot, history);
    const Replay replay = follow(made.snapshot, history, allocations);
    EXPECT_TRUE(replay.is_whole);
    EXPECT_EQ(replay.doubts.all(), 0u) << "seed " << seed;
    for (std::size_t s = 0; s < static_cast<std::size_t>(Stat::kCount); ++s) {
      for (std::size_t p = 0; p < static_cast<std::size_t>(Part::kCount); ++p) {
        const auto& ours = replay.statistics(static_cast<Stat>(s), static_cast<Part>(p));
        const auto& theirs = made.statistics(static_cast<Stat>(s), static_cast<Part>(p));
        EXPECT_EQ(ours.current, theirs.current);
        EXPECT_EQ(ours.peak, theirs.peak);
        EXPECT_EQ(ours.allocated, theirs.allocated);
        EXPECT_EQ(ours.freed, theirs.freed);
      }
    }
    const Requests requests = requests_of(history, allocations, replay);
    const Reproduction again = reproduce(requests);
    EXPECT_TRUE(again.is_same) << "seed " << seed << ", event " << again.first_departure << ": "
                               << again.why;
    EXPECT_EQ(again.other_places, 0u);
    EXPECT_GE(replay.peak_reserved.reserved, least_possible(requests, rules));
  }
}

TEST(RandomHistories, WithTorchsOwnSettings) { expect_replayed({}, {}); }

TEST(RandomHistories, WithExpandableSegments) {
  Rules rules;
  rules.expandable_segments = true;
  memory::Settings settings;
  settings.expandable_segments = true;
  expect_replayed(rules, settings);
}

TEST(RandomHistories, WithALimitToCutting) {
  Rules rules;
  rules.max_split_size = 24 * kMiB;
  memory::Settings settings;
  settings.max_split_size = 24 * kMiB;
  expect_replayed(rules, settings);
}

TEST(RandomHistories, WithCoarseRounding) {
  Rules rules;
  rules.divisions.fill(4);
  memory::Settings settings;
  for (std::int64_t mib = 1; mib <= 32768; mib *= 2) {
    settings.roundup_power2_divisions.emplace_back(mib, 4);
  }
  expect_replayed(rules, settings);
}

// What is said to go the same way under another split size does when it is tried, with and without
// a limit to memory. torch takes no split size up to 20 MiB.
TEST(RandomHistories, SplitSizesThatDecideAlikeHaveTheSameOutcome) {
  const std::vector<base::Bytes> sizes = {24 * kMiB, 30 * kMiB, 40 * kMiB,
                                          60 * kMiB, 90 * kMiB, 1000 * kMiB};
  std::size_t same = 0, other = 0;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    RandomHistory made = random_history({}, seed, 1500);
    const memory::History& history = made.snapshot.histories[0];
    const Allocations allocations = find_allocations(made.snapshot, history);
    const Replay replay = follow(made.snapshot, history, allocations);
    const Requests requests = requests_of(history, allocations, replay);
    const base::Bytes tight = replay.peak_reserved.reserved * 9 / 10;
    for (const std::optional<base::Bytes> limit : {std::optional<base::Bytes>(), {tight}}) {
      Rules rules;
      for (const base::Bytes size : sizes) {
        rules.max_split_size = size;
        const Simulated one = simulate(requests, rules, limit, sizes);
        EXPECT_EQ(std::ranges::count(one.same_split_sizes, size), one.retries == 0 ? 1 : 0);
        other += sizes.size() - one.same_split_sizes.size();
        for (const base::Bytes alike : one.same_split_sizes) {
          rules.max_split_size = alike;
          const Simulated two = simulate(requests, rules, limit);
          same += alike != size ? 1 : 0;
          EXPECT_EQ(one.peak_reserved, two.peak_reserved);
          EXPECT_EQ(one.end_reserved, two.end_reserved);
          EXPECT_EQ(one.peak_active, two.peak_active);
          EXPECT_EQ(one.peak_segments, two.peak_segments);
          EXPECT_EQ(one.driver_allocs, two.driver_allocs);
          EXPECT_EQ(one.driver_frees, two.driver_frees);
          EXPECT_EQ(one.retries, two.retries);
          EXPECT_EQ(one.failed, two.failed);
          EXPECT_EQ(one.ooms_served, two.ooms_served);
        }
      }
    }
  }
  EXPECT_GT(same, 0u);
  EXPECT_GT(other, 0u);
}

}  // namespace

}  // namespace stepscope::analysis
