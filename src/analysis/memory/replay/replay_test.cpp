#include "analysis/memory/replay/replay.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using allocator::Part;
using allocator::Stat;
using memory::Action;
using memory::BlockState;

constexpr base::Bytes kMiB = 1 << 20;
constexpr std::uint64_t kLow = 1 << 30, kHigh = std::uint64_t{1} << 40;

Replay follow_made(SnapshotForTests& made, bool expandable = false) {
  memory::Snapshot snapshot = made.make();
  for (memory::Segment& segment : snapshot.segments) {
    segment.is_large = segment.total > 2 * kMiB;
    segment.is_expandable = expandable;
  }
  snapshot.settings.expandable_segments = expandable;
  const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
  return follow(snapshot, snapshot.histories[0], allocations);
}

TEST(Replay, CutsJoinsAndCountsAsTorchDoes) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kLow, 20 * kMiB})
      .event({Action::kAlloc, kLow, 3 * kMiB - 100})          // cut
      .event({Action::kAlloc, kLow + 3 * kMiB, 5 * kMiB})     // cut
      .event({Action::kFreeRequested, kLow, 3 * kMiB - 100})  // alone between
      .event({Action::kFreeCompleted, kLow, 3 * kMiB - 100})  //
      .event({Action::kAlloc, kLow, 2 * kMiB + 512})          // not cut: 1 MiB - 512 would be left
      .event({Action::kFreeRequested, kLow + 3 * kMiB, 5 * kMiB})
      .event({Action::kFreeCompleted, kLow + 3 * kMiB, 5 * kMiB});  // joins the rest
  made.segment({{kLow, 3 * kMiB, 2 * kMiB + 512, BlockState::kActive},
                {kLow + 3 * kMiB, 17 * kMiB, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_TRUE(replay.is_whole);
  EXPECT_EQ(replay.block_size, (std::vector<base::Bytes>{3 * kMiB, 5 * kMiB, 3 * kMiB}));
  const allocator::Statistics& stats = replay.statistics;
  EXPECT_EQ(stats(Stat::kAllocatedBytes).current, 3 * kMiB);
  EXPECT_EQ(stats(Stat::kAllocatedBytes).peak, 8 * kMiB);
  EXPECT_EQ(stats(Stat::kRequestedBytes).current, 2 * kMiB + 512);
  EXPECT_EQ(stats(Stat::kInactiveSplit).current, 1);
  EXPECT_EQ(stats(Stat::kInactiveSplit).peak, 2);
  EXPECT_EQ(stats(Stat::kInactiveSplitBytes).current, 17 * kMiB);
  EXPECT_EQ(stats(Stat::kSegment, Part::kLargePool).current, 1);
  EXPECT_EQ(stats(Stat::kSegment, Part::kSmallPool).current, 0);
  EXPECT_EQ(replay.end.largest_free, 17 * kMiB);
  EXPECT_EQ(replay.peak_allocated.event, 2u);
  EXPECT_TRUE(remarks_on(replay).empty());
}

TEST(Replay, WaitingBlocksAreActiveButNotAllocated) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kLow, 2 * kMiB})
      .event({Action::kAlloc, kLow, 512})
      .event({Action::kFreeRequested, kLow, 512})
      .event({Action::kAlloc, kLow + 512, 512});
  made.segment({{kLow, 512, 512, BlockState::kPendingFree},
                {kLow + 512, 512, 512, BlockState::kActive},
                {kLow + 1024, 2 * kMiB - 1024, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_EQ(replay.statistics(Stat::kAllocation).current, 1);
  EXPECT_EQ(replay.statistics(Stat::kActive).current, 2);
  EXPECT_EQ(replay.statistics(Stat::kActiveBytes, Part::kSmallPool).current, 1024);
}

TEST(Replay, WhatWasThereBeforeIsWorkedOutBackwards) {
  SnapshotForTests made;
  made.event({Action::kAlloc, kLow + kMiB, 1024})
      .event({Action::kFreeRequested, kLow, 2048})       // older than the history
      .event({Action::kFreeCompleted, kLow, 2048})       //
      .event({Action::kSegmentFree, kHigh, 30 * kMiB});  // a segment older than the history
  made.segment({{kLow, kMiB - 512, 0, BlockState::kInactive},
                {kLow + kMiB - 512, 512, 7, BlockState::kActive},
                {kLow + kMiB, 1024, 1024, BlockState::kActive},
                {kLow + kMiB + 1024, kMiB - 1024, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_FALSE(replay.is_whole);
  EXPECT_EQ(replay.assumed_sizes, 1u);
  EXPECT_EQ(replay.start.reserved, 32 * kMiB);
  EXPECT_EQ(replay.start.allocated, 2048 + 512);
  EXPECT_EQ(replay.start.largest_free, 30 * kMiB);
  EXPECT_EQ(replay.end.reserved, 2 * kMiB);
  EXPECT_EQ(replay.statistics(Stat::kAllocation).allocated, 1);
  EXPECT_EQ(replay.statistics(Stat::kInactiveSplit).current, 2);
  EXPECT_EQ(remarks_on(replay).size(), 2u);
}

TEST(Replay, AnOlderBlockIsLargerThanItsRequestWhereTheNextAllocationSaysSo) {
  SnapshotForTests made;
  made.event({Action::kAlloc, kLow + 3 * kMiB, 5 * kMiB})  // so the block before ends here
      .event({Action::kFreeRequested, kLow, 2 * kMiB + 512})
      .event({Action::kFreeCompleted, kLow, 2 * kMiB + 512});
  made.segment({{kLow, 3 * kMiB, 0, BlockState::kInactive},
                {kLow + 3 * kMiB, 5 * kMiB, 5 * kMiB, BlockState::kActive},
                {kLow + 8 * kMiB, 12 * kMiB, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_EQ(replay.block_size[0], 3 * kMiB);
}

TEST(Replay, ExpandableSegmentsGrowAndShrink) {
  SnapshotForTests made;
  made.event({Action::kSegmentMap, kLow, 20 * kMiB})
      .event({Action::kAlloc, kLow, 16 * kMiB})
      .event({Action::kSegmentMap, kLow + 20 * kMiB, 20 * kMiB})
      .event({Action::kAlloc, kLow + 16 * kMiB, 24 * kMiB})
      .event({Action::kFreeRequested, kLow, 16 * kMiB})
      .event({Action::kFreeCompleted, kLow, 16 * kMiB})
      .event({Action::kAlloc, kLow, 512 + kMiB})
      .event({Action::kFreeRequested, kLow + 16 * kMiB, 24 * kMiB})
      .event({Action::kFreeCompleted, kLow + 16 * kMiB, 24 * kMiB})
      .event({Action::kSegmentUnmap, kLow + 20 * kMiB, 20 * kMiB});
  made.segment({{kLow, kMiB + 512, kMiB + 512, BlockState::kActive},
                {kLow + kMiB + 512, 19 * kMiB - 512, 0, BlockState::kInactive}});
  const Replay replay = follow_made(made, true);
  EXPECT_TRUE(replay.is_exact());
  EXPECT_EQ(replay.statistics(Stat::kReservedBytes).peak, 40 * kMiB);
  EXPECT_EQ(replay.statistics(Stat::kReservedBytes).current, 20 * kMiB);
  EXPECT_EQ(replay.statistics(Stat::kSegment).allocated, 0);
  EXPECT_EQ(replay.statistics(Stat::kInactiveSplit).allocated, 0);
}

TEST(Replay, AnOomSeesWhatWasFreeWhere) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kLow, 20 * kMiB})
      .event({Action::kAlloc, kLow, 4 * kMiB})
      .event({Action::kSegmentAlloc, kHigh, 2 * kMiB})
      .event({Action::kAlloc, kHigh, 512})
      .event({Action::kOom, 1000, 40 * kMiB});
  const Replay replay = follow_made(made);
  ASSERT_EQ(replay.ooms.size(), 1u);
  const ReplayOom& oom = replay.ooms[0];
  EXPECT_EQ(oom.at.reserved, 22 * kMiB);
  EXPECT_EQ(oom.usable, 16 * kMiB);
  EXPECT_EQ(oom.largest_usable, 16 * kMiB);
  EXPECT_EQ(oom.elsewhere, 2 * kMiB - 512);
  ASSERT_EQ(oom.segments.size(), 2u);
  EXPECT_EQ(oom.segments[0].address, kLow);
}

TEST(Replay, ContradictionsAreCountedAndDoNotStopIt) {
  SnapshotForTests made;
  made.event({Action::kSegmentAlloc, kLow, 2 * kMiB})
      .event({Action::kAlloc, kHigh, 512})              // outside every segment
      .event({Action::kAlloc, kLow + 4096, 512})        // no free block begins here
      .event({Action::kSegmentFree, kLow, 2 * kMiB})    // still in use
      .event({Action::kSegmentFree, kLow, 2 * kMiB})    // returned twice
      .event({Action::kSegmentUnmap, kHigh * 2, kMiB})  // never mapped
      .event({Action::kFreeCompleted, kHigh, 512});
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
  made.event({Action::kSegmentAlloc, kLow, 2 * kMiB});
  for (int i = 0; i < 100; ++i) {
    const base::Bytes size = i == 57 ? 4096 : 512;
    made.event({Action::kAlloc, kLow, size})
        .event({Action::kFreeRequested, kLow, size})
        .event({Action::kFreeCompleted, kLow, size});
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
