#include "analysis/memory/simulated/simulated.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using allocator::Rules;
using memory::Action;

constexpr base::Bytes kSimulatedMiB = 1 << 20;
constexpr std::uint64_t kSimulatedLow = 1 << 30, kMid = std::uint64_t{1} << 35,
                        kHigh = std::uint64_t{1} << 40;

struct SimulatedHistory {
  memory::Snapshot snapshot;
  Allocations allocations;
  Replay replay;
  const memory::History& history() const { return snapshot.histories[0]; }
  Requests requests() const { return requests_of(history(), allocations, replay); }
};

SimulatedHistory prepare(SnapshotForTests& made, memory::Settings settings = {}) {
  SimulatedHistory out;
  out.snapshot = made.make();
  out.snapshot.settings = std::move(settings);
  out.allocations = find_allocations(out.snapshot, out.history());
  out.replay = follow(out.snapshot, out.history(), out.allocations);
  return out;
}

Reproduction reproduction_of(const SimulatedHistory& of) { return reproduce(of.requests()); }

void free_at(SnapshotForTests& made, std::uint64_t address, base::Bytes size) {
  made.event({Action::kFreeRequested, address, size})
      .event({Action::kFreeCompleted, address, size});
}

// Two segments of 20 MiB, a hole in each, and a request that fits only a new one.
void make_holes(SnapshotForTests& made) {
  made.event({Action::kSegmentAlloc, kSimulatedLow, 20 * kSimulatedMiB})
      .event({Action::kAlloc, kSimulatedLow, 9 * kSimulatedMiB})
      .event({Action::kAlloc, kSimulatedLow + 9 * kSimulatedMiB, 9 * kSimulatedMiB})
      .event({Action::kSegmentAlloc, kMid, 20 * kSimulatedMiB})
      .event({Action::kAlloc, kMid, 9 * kSimulatedMiB})
      .event({Action::kAlloc, kMid + 9 * kSimulatedMiB, 9 * kSimulatedMiB});
  free_at(made, kSimulatedLow, 9 * kSimulatedMiB);
  free_at(made, kMid, 9 * kSimulatedMiB);
  made.event({Action::kSegmentAlloc, kHigh, 16 * kSimulatedMiB})
      .event({Action::kAlloc, kHigh, 16 * kSimulatedMiB});
}

TEST(Simulated, AsksTheDriverForTheSameAsRecorded) {
  SnapshotForTests made;
  make_holes(made);
  made.event({Action::kAlloc, kSimulatedLow,
              5 * kSimulatedMiB});  // the best fit: as small as the other, lower
  const SimulatedHistory prepared = prepare(made);
  const Reproduction same = reproduction_of(prepared);
  EXPECT_TRUE(same.is_same) << same.why;
  EXPECT_EQ(same.driver_calls, 3u);
  EXPECT_EQ(same.other_places, 0u);
}

TEST(Simulated, NoticesARecordItCannotExplain) {
  SnapshotForTests made;
  make_holes(made);
  made.event({Action::kSegmentAlloc, kHigh * 2, 20 * kSimulatedMiB})
      .event({Action::kAlloc, kHigh * 2, 5 * kSimulatedMiB});  // though a hole fits
  const Reproduction other = reproduction_of(prepare(made));
  EXPECT_FALSE(other.is_same);
  EXPECT_EQ(other.first_departure, 13u);
  EXPECT_FALSE(other.why.empty());
}

TEST(Simulated, OtherSettingsNeedOtherMemory) {
  SnapshotForTests made;
  make_holes(made);
  const SimulatedHistory of = prepare(made);
  const auto under = [&](const Rules& rules) { return simulate(of.requests(), rules, {}); };
  const Simulated recorded = under(of.replay.rules);
  EXPECT_EQ(recorded.peak_reserved, 56 * kSimulatedMiB);
  EXPECT_EQ(recorded.driver_allocs, 3u);
  Rules expandable = of.replay.rules;
  expandable.expandable_segments = true;
  // 36 MiB in two maps of 20; then the 16 MiB need one page more.
  EXPECT_EQ(under(expandable).peak_reserved, 60 * kSimulatedMiB);
  EXPECT_EQ(under(expandable).peak_segments, 0);
  EXPECT_EQ(least_possible(of.requests(), of.replay.rules), 36 * kSimulatedMiB);
  Rules coarse = of.replay.rules;
  coarse.divisions.fill(1);
  EXPECT_EQ(under(coarse).peak_reserved, 56 * kSimulatedMiB);  // 1 is no division at all
  coarse.divisions.fill(2);                                    // 9 becomes 12: a segment each
  EXPECT_EQ(under(coarse).peak_reserved, (4 * 12 + 16) * kSimulatedMiB);
}

TEST(Simulated, ReturnsEverythingUnusedWhereTheDriverRefuses) {
  SnapshotForTests made;
  const memory::StackId stack = made.stack({"f@model.py"});
  made.event({Action::kSegmentAlloc, kSimulatedLow, 30 * kSimulatedMiB, stack})
      .event({Action::kAlloc, kSimulatedLow, 30 * kSimulatedMiB, stack});
  free_at(made, kSimulatedLow, 30 * kSimulatedMiB);
  made.event({Action::kSegmentFree, kSimulatedLow, 30 * kSimulatedMiB, stack})
      .event({Action::kSegmentAlloc, kHigh, 40 * kSimulatedMiB, stack})
      .event({Action::kAlloc, kHigh, 40 * kSimulatedMiB, stack})
      .event({Action::kOom, 5 * kSimulatedMiB, 50 * kSimulatedMiB, stack});
  const SimulatedHistory of = prepare(made);
  EXPECT_TRUE(reproduction_of(of).is_same);
  const std::optional<Limit> limit = limit_seen(of.history(), of.replay);
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->at_least, 40 * kSimulatedMiB);
  EXPECT_EQ(limit->at_most, 45 * kSimulatedMiB);  // what the driver had free at the end
  const Simulated again = simulate(of.requests(), of.replay.rules, limit->at_most);
  EXPECT_EQ(again.retries, 1u);
  EXPECT_EQ(again.failed, 0u);
  EXPECT_EQ(again.ooms_served, 0u);
  EXPECT_EQ(again.driver_frees, 1u);
  // With more memory nothing would have been returned, and nothing would have failed.
  const Simulated more = simulate(of.requests(), of.replay.rules, 200 * kSimulatedMiB);
  EXPECT_EQ(more.retries, 0u);
  EXPECT_EQ(more.ooms_served, 1u);
}

TEST(Simulated, ALimitIsTheProcessOwnWhereTheDriverHadEnough) {
  for (const bool is_own : {false, true}) {
    SnapshotForTests made;
    made.event({Action::kSegmentAlloc, kSimulatedLow, 30 * kSimulatedMiB})
        .event({Action::kAlloc, kSimulatedLow, 30 * kSimulatedMiB})
        .event({Action::kOom, static_cast<std::uint64_t>((is_own ? 900 : 5) * kSimulatedMiB),
                50 * kSimulatedMiB});
    const SimulatedHistory of = prepare(made);
    const std::optional<Limit> limit = limit_seen(of.history(), of.replay);
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->is_own, is_own);
    EXPECT_EQ(limit->at_most, is_own ? 80 * kSimulatedMiB - 1 : 35 * kSimulatedMiB);
  }
}

TEST(Simulated, LargeBlocksAreKeptWholeAboveTheSplitLimit) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kSimulatedLow, 100 * kSimulatedMiB})
      .event({Action::kAlloc, kSimulatedLow, 100 * kSimulatedMiB});
  free_at(made, kSimulatedLow, 100 * kSimulatedMiB);
  made.event({Action::kAlloc, kSimulatedLow, 12 * kSimulatedMiB});  // cut out of the large one
  const SimulatedHistory of = prepare(made);
  EXPECT_TRUE(reproduction_of(of).is_same);
  Rules whole = of.replay.rules;
  whole.max_split_size = 64 * kSimulatedMiB;
  EXPECT_EQ(simulate(of.requests(), whole, {}).peak_reserved, 112 * kSimulatedMiB);
}

TEST(Simulated, TheCollectorReturnsWhatIsOld) {
  SnapshotForTests made;
  for (const std::uint64_t at : {kSimulatedLow, kMid}) {
    made.event({Action::kSegmentAlloc, at, 30 * kSimulatedMiB})
        .event({Action::kAlloc, at, 30 * kSimulatedMiB});
  }
  free_at(made, kSimulatedLow, 30 * kSimulatedMiB);
  made.event({Action::kSegmentAlloc, kHigh, 40 * kSimulatedMiB})
      .event({Action::kAlloc, kHigh, 40 * kSimulatedMiB});
  const SimulatedHistory of = prepare(made);
  Rules collecting = of.replay.rules;
  collecting.collect_above = 0.5;
  const Simulated out = simulate(of.requests(), collecting, 100 * kSimulatedMiB);
  EXPECT_EQ(out.driver_frees, 1u);
  EXPECT_EQ(out.peak_reserved, 70 * kSimulatedMiB);
}

TEST(Simulated, WhatIsOlderIsLaidOutAfresh) {
  SnapshotForTests made;
  free_at(made, kSimulatedLow, 30 * kSimulatedMiB);
  made.event({Action::kAlloc, kSimulatedLow, 30 * kSimulatedMiB});
  made.segment(
      {{kSimulatedLow, 30 * kSimulatedMiB, 30 * kSimulatedMiB, memory::BlockState::kActive}});
  const SimulatedHistory of = prepare(made);
  EXPECT_TRUE(reproduction_of(of).is_same);
  const Simulated out = simulate(of.requests(), of.replay.rules, {});
  EXPECT_EQ(out.peak_reserved, 30 * kSimulatedMiB);
  EXPECT_EQ(out.driver_allocs, 0u);
}

}  // namespace
}  // namespace stepscope::analysis
