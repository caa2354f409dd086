#include "analysis/memory/replay/replay.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using allocator::Part;
using allocator::Stat;
using memory::Action;
using memory::BlockState;

constexpr base::Bytes kReplayMiB = 1 << 20;
constexpr std::uint64_t kReplayLow = 1 << 30, kReplayHigh = std::uint64_t{1} << 40;

Replay follow_made(SnapshotForTests& made, bool expandable = false) {
  memory::Snapshot snapshot = made.make();
  for (memory::Segment& segment : snapshot.segments) {
    segment.is_large = segment.total > 2 * kReplayMiB;
    segment.is_expandable = expandable;
  }
  snapshot.settings.expandable_segments = expandable;
  const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
  return follow(snapshot, snapshot.histories[0], allocations);
}

TEST(Replay, CutsJoinsAndCountsAsTorchDoes) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kReplayLow, 20 * kReplayMiB})
      .event({Action::kAlloc, kReplayLow, 3 * kReplayMiB - 100})             // cut
      .event({Action::kAlloc, kReplayLow + 3 * kReplayMiB, 5 * kReplayMiB})  // cut
      .event({Action::kFreeRequested, kReplayLow, 3 * kReplayMiB - 100})     // alone between
      .event({Action::kFreeCompleted, kReplayLow, 3 * kReplayMiB - 100})     //
      .event(
          {Action::kAlloc, kReplayLow, 2 * kReplayMiB + 512})  // not cut: 1 MiB - 512 would be left
      .event({Action::kFreeRequested, kReplayLow + 3 * kReplayMiB, 5 * kReplayMiB})
      .event(
          {Action::kFreeCompleted, kReplayLow + 3 * kReplayMiB, 5 * kReplayMiB});  // joins the rest
  made.segment({{kReplayLow, 3 * kReplayMiB, 2 * kReplayMiB + 512, BlockState::kActive},
                {kReplayLow + 3 * kReplayMiB, 17 * kReplayMiB, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_TRUE(replay.is_whole);
  EXPECT_EQ(replay.block_size,
            (std::vector<base::Bytes>{3 * kReplayMiB, 5 * kReplayMiB, 3 * kReplayMiB}));
  const allocator::Statistics& stats = replay.statistics;
  EXPECT_EQ(stats(Stat::kAllocatedBytes).current, 3 * kReplayMiB);
  EXPECT_EQ(stats(Stat::kAllocatedBytes).peak, 8 * kReplayMiB);
  EXPECT_EQ(stats(Stat::kRequestedBytes).current, 2 * kReplayMiB + 512);
  EXPECT_EQ(stats(Stat::kInactiveSplit).current, 1);
  EXPECT_EQ(stats(Stat::kInactiveSplit).peak, 2);
  EXPECT_EQ(stats(Stat::kInactiveSplitBytes).current, 17 * kReplayMiB);
  EXPECT_EQ(stats(Stat::kSegment, Part::kLargePool).current, 1);
  EXPECT_EQ(stats(Stat::kSegment, Part::kSmallPool).current, 0);
  EXPECT_EQ(replay.end.largest_free, 17 * kReplayMiB);
  EXPECT_EQ(replay.peak_allocated.event, 2u);
  EXPECT_TRUE(remarks_on(replay).empty());
}

TEST(Replay, WaitingBlocksAreActiveButNotAllocated) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kReplayLow, 2 * kReplayMiB})
      .event({Action::kAlloc, kReplayLow, 512})
      .event({Action::kFreeRequested, kReplayLow, 512})
      .event({Action::kAlloc, kReplayLow + 512, 512});
  made.segment({{kReplayLow, 512, 512, BlockState::kPendingFree},
                {kReplayLow + 512, 512, 512, BlockState::kActive},
                {kReplayLow + 1024, 2 * kReplayMiB - 1024, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_EQ(replay.statistics(Stat::kAllocation).current, 1);
  EXPECT_EQ(replay.statistics(Stat::kActive).current, 2);
  EXPECT_EQ(replay.statistics(Stat::kActiveBytes, Part::kSmallPool).current, 1024);
}

TEST(Replay, WhatWasThereBeforeIsWorkedOutBackwards) {
  SnapshotForTests made;
  made.event({Action::kAlloc, kReplayLow + kReplayMiB, 1024})
      .event({Action::kFreeRequested, kReplayLow, 2048})  // older than the history
      .event({Action::kFreeCompleted, kReplayLow, 2048})  //
      .event({Action::kSegmentFree, kReplayHigh,
              30 * kReplayMiB});  // a segment older than the history
  made.segment({{kReplayLow, kReplayMiB - 512, 0, BlockState::kInactive},
                {kReplayLow + kReplayMiB - 512, 512, 7, BlockState::kActive},
                {kReplayLow + kReplayMiB, 1024, 1024, BlockState::kActive},
                {kReplayLow + kReplayMiB + 1024, kReplayMiB - 1024, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_FALSE(replay.is_whole);
  EXPECT_EQ(replay.assumed_sizes, 1u);
  EXPECT_EQ(replay.start.reserved, 32 * kReplayMiB);
  EXPECT_EQ(replay.start.allocated, 2048 + 512);
  EXPECT_EQ(replay.start.largest_free, 30 * kReplayMiB);
  EXPECT_EQ(replay.end.reserved, 2 * kReplayMiB);
  EXPECT_EQ(replay.statistics(Stat::kAllocation).allocated, 1);
  EXPECT_EQ(replay.statistics(Stat::kInactiveSplit).current, 2);
  EXPECT_EQ(remarks_on(replay).size(), 2u);
}

TEST(Replay, AnOlderBlockIsLargerThanItsRequestWhereTheNextAllocationSaysSo) {
  SnapshotForTests made;
  made.event({Action::kAlloc, kReplayLow + 3 * kReplayMiB,
              5 * kReplayMiB})  // so the block before ends here
      .event({Action::kFreeRequested, kReplayLow, 2 * kReplayMiB + 512})
      .event({Action::kFreeCompleted, kReplayLow, 2 * kReplayMiB + 512});
  made.segment({{kReplayLow, 3 * kReplayMiB, 0, BlockState::kInactive},
                {kReplayLow + 3 * kReplayMiB, 5 * kReplayMiB, 5 * kReplayMiB, BlockState::kActive},
                {kReplayLow + 8 * kReplayMiB, 12 * kReplayMiB, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_EQ(replay.block_size[0], 3 * kReplayMiB);
}

TEST(Replay, ExpandableSegmentsGrowAndShrink) {
  SnapshotForTests made;
  made.event({Action::kSegmentMap, kReplayLow, 20 * kReplayMiB})
      .event({Action::kAlloc, kReplayLow, 16 * kReplayMiB})
      .event({Action::kSegmentMap, kReplayLow + 20 * kReplayMiB, 20 * kReplayMiB})
      .event({Action::kAlloc, kReplayLow + 16 * kReplayMiB, 24 * kReplayMiB})
      .event({Action::kFreeRequested, kReplayLow, 16 * kReplayMiB})
      .event({Action::kFreeCompleted, kReplayLow, 16 * kReplayMiB})
      .event({Action::kAlloc, kReplayLow, 512 + kReplayMiB})
      .event({Action::kFreeRequested, kReplayLow + 16 * kReplayMiB, 24 * kReplayMiB})
      .event({Action::kFreeCompleted, kReplayLow + 16 * kReplayMiB, 24 * kReplayMiB})
      .event({Action::kSegmentUnmap, kReplayLow + 20 * kReplayMiB, 20 * kReplayMiB});
  made.segment({{kReplayLow, kReplayMiB + 512, kReplayMiB + 512, BlockState::kActive},
                {kReplayLow + kReplayMiB + 512, 19 * kReplayMiB - 512, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made, true);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_EQ(replay.statistics(Stat::kReservedBytes).peak, 40 * kReplayMiB);
  EXPECT_EQ(replay.statistics(Stat::kReservedBytes).current, 20 * kReplayMiB);
  EXPECT_EQ(replay.statistics(Stat::kSegment).allocated, 0);
  EXPECT_EQ(replay.statistics(Stat::kInactiveSplit).allocated, 0);
}

TEST(Replay, AnOomSeesWhatWasFreeWhere) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kReplayLow, 20 * kReplayMiB})
      .event({Action::kAlloc, kReplayLow, 4 * kReplayMiB})
      .event({Action::kSegmentAlloc, kReplayHigh, 2 * kReplayMiB})
      .event({Action::kAlloc, kReplayHigh, 512})
      .event({Action::kOom, 1000, 40 * kReplayMiB});
  const Replay replay = follow_made(made);
  ASSERT_EQ(replay.ooms.size(), 1u);
  const ReplayOom& oom = replay.ooms[0];
  EXPECT_EQ(oom.at.reserved, 22 * kReplayMiB);
  EXPECT_EQ(oom.usable, 16 * kReplayMiB);
  EXPECT_EQ(oom.largest_usable, 16 * kReplayMiB);
  EXPECT_EQ(oom.elsewhere, 2 * kReplayMiB - 512);
  ASSERT_EQ(oom.segments.size(), 2u);
  EXPECT_EQ(oom.segments[0].address, kReplayLow);
}

TEST(Replay, ContradictionsAreCountedAndDoNotStopIt) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kReplayLow, 2 * kReplayMiB})
      .event({Action::kAlloc, kReplayHigh, 512})                    // outside every segment
      .event({Action::kAlloc, kReplayLow + 4096, 512})              // no free block begins here
      .event({Action::kSegmentFree, kReplayLow, 2 * kReplayMiB})    // still in use
      .event({Action::kSegmentFree, kReplayLow, 2 * kReplayMiB})    // returned twice
      .event({Action::kSegmentUnmap, kReplayHigh * 2, kReplayMiB})  // never mapped
      .event({Action::kFreeCompleted, kReplayHigh, 512});
  const Replay replay = follow_made(made);
  EXPECT_EQ(replay.doubts.outside_segments, 1u);
  EXPECT_EQ(replay.doubts.not_at_a_free_block, 1u);
  EXPECT_EQ(replay.doubts.still_in_use, 1u);
  EXPECT_EQ(replay.doubts.first_event, 1u);
  EXPECT_EQ(replay.end.allocated, 0);
  EXPECT_FALSE(remarks_on(replay).empty());
}

TEST(Replay, MomentsKeepEveryPeak) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kReplayLow, 2 * kReplayMiB});
  for (int i = 0; i < 100; ++i) {
    const base::Bytes size = i == 57 ? 4096 : 512;
    made.event({Action::kAlloc, kReplayLow, size})
        .event({Action::kFreeRequested, kReplayLow, size})
        .event({Action::kFreeCompleted, kReplayLow, size});
  }
  memory::Snapshot snapshot = made.make();
  const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
  const Replay replay = follow(snapshot, snapshot.histories[0], allocations, 3);
  EXPECT_LE(replay.moments.size(), 24u);
  base::Bytes most = 0;
  for (std::size_t i = 0; i < replay.moments.size(); ++i) {
    most = std::max(most, replay.moments[i].allocated);
    if (i > 0) {
      EXPECT_LT(replay.moments[i - 1].event, replay.moments[i].event);
    }
  }
  EXPECT_EQ(most, 4096);
}

}  // namespace
}  // namespace stepscope::analysis
