#include "analysis/memory/history/allocations.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using memory::Action;
using memory::BlockState;

constexpr Action kAlloc = Action::kAlloc;
constexpr Action kLetGo = Action::kFreeRequested;
constexpr Action kFreed = Action::kFreeCompleted;

Allocations allocations_of(const memory::Snapshot& snapshot) {
  return find_allocations(snapshot, snapshot.histories[0]);
}

TEST(Allocations, EndWhenMemoryCanBeUsedAgainAndAddressesAreReused) {
  SnapshotForTests made;
  made.event({kAlloc, 512, 100})
      .event({Action::kSegmentAlloc, 512, 2 << 20})
      .event({kLetGo, 512, 100})
      .event({kAlloc, 1024, 7})
      .event({kFreed, 512, 100})
      .event({kAlloc, 512, 200});
  made.segment({{512, 512, 200, BlockState::kActive}, {1024, 512, 7, BlockState::kActive}});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = allocations_of(snapshot);
  ASSERT_EQ(allocations.list.size(), 3u);
  EXPECT_EQ(allocations.list[0].alloc, 0u);
  EXPECT_EQ(allocations.list[0].let_go, 2u);
  EXPECT_EQ(allocations.list[0].freed, 4u);
  EXPECT_EQ(allocations.list[1].address, 1024u);
  EXPECT_TRUE(allocations.list[1].is_alive_at_end());
  EXPECT_EQ(allocations.list[2].requested, 200);
  EXPECT_EQ(allocations.list[2].block, 0u);
  EXPECT_EQ(allocations.of_event, (std::vector<AllocationId>{0, kNoAllocation, 0, 1, 0, 2}));
  EXPECT_EQ(live_bytes(allocations, snapshot.histories[0]),
            (std::vector<base::Bytes>{100, 100, 100, 107, 7, 207}));
  EXPECT_TRUE(allocations.cover_the_process());
  EXPECT_EQ(allocations.alive_at_end_bytes, 207);
  EXPECT_EQ(allocations.contradictions.all(), 0u);
}

TEST(Allocations, OlderThanTheHistoryAreKnownFromTheirFreeOrTheirBlock) {
  SnapshotForTests made;
  const memory::StackId stack = made.stack({"f@model.py"});
  made.event({kLetGo, 512, 100}).event({kFreed, 512, 100}).event({kFreed, 4096, 50});
  made.segment({{512, 512, 0, BlockState::kInactive},
                {1024, 512, 300, BlockState::kActive, stack},
                {1536, 512, 0, BlockState::kPendingFree}});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = allocations_of(snapshot);
  ASSERT_EQ(allocations.list.size(), 4u);
  EXPECT_EQ(allocations.older, 4u);
  EXPECT_EQ(allocations.older_bytes, 100 + 300 + 512 + 50);
  EXPECT_EQ(allocations.list[1].stack, stack);
  EXPECT_EQ(allocations.list[2].requested, 512);  // the block does not say what was asked for
  EXPECT_EQ(allocations.list[3].freed, 2u);
  EXPECT_TRUE(allocations.list[2].let_go_before);
  EXPECT_TRUE(allocations.list[3].let_go_before);
  EXPECT_FALSE(allocations.list[0].let_go_before);
  EXPECT_EQ(allocations.alive_at_end, 2u);
  EXPECT_FALSE(allocations.cover_the_process());
  EXPECT_EQ(live_bytes(allocations, snapshot.histories[0]),
            (std::vector<base::Bytes>{962, 862, 812}));
  EXPECT_EQ(allocations.contradictions.all(), 0u);
}

TEST(Allocations, LetGoButWaitingForAStreamAreAliveUntilReusable) {
  SnapshotForTests made;
  made.event({kAlloc, 512, 100}).event({kLetGo, 512, 100});
  made.segment({{512, 512, 100, BlockState::kPendingFree}});
  const Allocations allocations = allocations_of(made.make());
  ASSERT_EQ(allocations.list.size(), 1u);
  EXPECT_TRUE(allocations.list[0].is_alive_at_end());
  EXPECT_EQ(allocations.list[0].used_until(), 1u);
  EXPECT_EQ(allocations.contradictions.all(), 0u);
}

TEST(Allocations, EndWhenLetGoInHistoriesThatDoNotRecordMore) {
  SnapshotForTests made;
  made.event({kAlloc, 512, 100}).event({kLetGo, 512, 100});
  made.segment({{512, 512, 0, BlockState::kInactive}});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = allocations_of(snapshot);
  EXPECT_TRUE(allocations.let_go_is_free);
  EXPECT_EQ(allocations.list[0].freed, 1u);
  EXPECT_EQ(remarks_on(allocations, snapshot).size(), 1u);
}

TEST(Allocations, LostEventsAreCounted) {
  SnapshotForTests made;
  made.event({kAlloc, 512, 100}).event({kAlloc, 512, 200});  // its free is lost
  made.event({kAlloc, 1024, 5}).event({kLetGo, 1024, 6}).event({kFreed, 1024, 5});
  made.event({kAlloc, 2048, 9});  // no block
  made.segment({{512, 512, 201, BlockState::kActive}});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = allocations_of(snapshot);
  EXPECT_EQ(allocations.contradictions.reused_while_alive, 1u);
  EXPECT_EQ(allocations.contradictions.freed_size_differs, 1u);
  EXPECT_EQ(allocations.contradictions.alive_without_block, 1u);
  EXPECT_EQ(allocations.contradictions.block_size_differs, 1u);
  EXPECT_EQ(remarks_on(allocations, snapshot).size(), 4u);
  EXPECT_EQ(allocations.alive_at_end, 1u);
  EXPECT_EQ(live_bytes(allocations, snapshot.histories[0]).back(), allocations.alive_at_end_bytes);
}

TEST(Allocations, NothingIsNothing) {
  SnapshotForTests made;
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = allocations_of(snapshot);
  EXPECT_TRUE(allocations.list.empty());
  EXPECT_TRUE(allocations.cover_the_process());
  EXPECT_TRUE(remarks_on(allocations, snapshot).empty());
}

TEST(Allocations, WithoutSegmentsNothingIsCompared) {
  SnapshotForTests made;
  made.event({kAlloc, 512, 100});
  const Allocations allocations = allocations_of(made.make());
  EXPECT_FALSE(allocations.has_blocks);
  EXPECT_EQ(allocations.alive_at_end, 1u);
  EXPECT_EQ(allocations.contradictions.all(), 0u);
}

}  // namespace
}  // namespace stepscope::analysis
