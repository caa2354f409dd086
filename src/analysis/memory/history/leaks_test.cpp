#include "analysis/memory/history/leaks.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using memory::Action;

// A program of steps of one kind: what each allocates, and when it frees it.
struct Program {
  SnapshotForTests made;
  StepEvents steps{.from = StepBorders::kMarked, .number = {}, .begin = {}, .end = 0};
  std::uint32_t events = 0;
  std::uint64_t next = 512;

  void step() {
    steps.number.push_back(static_cast<std::int64_t>(steps.number.size()));
    steps.begin.push_back(events);
  }
  std::uint64_t alloc(base::Bytes size) {
    made.event({Action::kAlloc, next, size});
    ++events;
    next += 4096;
    return next - 4096;
  }
  void free(std::uint64_t address, base::Bytes size) {
    made.event({Action::kFreeRequested, address, size})
        .event({Action::kFreeCompleted, address, size});
    events += 2;
  }
  Leaks leaks() {
    steps.end = events;
    const memory::Snapshot snapshot = made.make();
    const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
    return find_leaks(allocations, std::vector<std::uint32_t>(allocations.list.size()), steps);
  }
};

TEST(Leaks, OneLeftBehindInEveryStep) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    program.step();
    for (int layer = 0; layer < 4; ++layer) {
      const std::uint64_t at = program.alloc(100);
      if (layer != 2) program.free(at, 100);
    }
  }
  const Leaks leaks = program.leaks();
  ASSERT_EQ(leaks.list.size(), 1u);
  EXPECT_EQ(leaks.list[0].bytes_per_step(), 100);
  EXPECT_EQ(leaks.list[0].steps, 6u);
  EXPECT_EQ(leaks.list[0].confidence, Confidence::kHigh);
  ASSERT_EQ(leaks.outliving.size(), 1u);
  EXPECT_EQ(leaks.outliving[0].outlive, 6u);
  EXPECT_EQ(leaks.outliving[0].alive, 6u);
  EXPECT_EQ(leaks.outliving[0].all, 24u);
}

TEST(Leaks, WarmUpIsNone) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    program.step();
    if (i < 2) program.alloc(1000);  // state of the optimizer, a cache
    program.free(program.alloc(100), 100);
  }
  EXPECT_TRUE(program.leaks().list.empty());
}

TEST(Leaks, WhatIsKeptForAFewStepsIsNone) {
  Program program;
  std::vector<std::uint64_t> kept;
  for (int i = 0; i < 12; ++i) {
    program.step();
    kept.push_back(program.alloc(100));
    if (i >= 3) program.free(kept[static_cast<std::size_t>(i) - 3], 100);
  }
  EXPECT_TRUE(program.leaks().list.empty());
}

TEST(Leaks, FewStepsSayLittle) {
  Program three, four;
  for (int i = 0; i < 4; ++i) {
    if (i < 3) {
      three.step();
      three.alloc(100);
    }
    four.step();
    four.alloc(100);
  }
  EXPECT_TRUE(three.leaks().list.empty());
  const Leaks low = four.leaks();
  ASSERT_EQ(low.list.size(), 1u);
  EXPECT_EQ(low.list[0].confidence, Confidence::kLow);
}

TEST(Leaks, WhatStoppedGrowingIsNone) {
  Program program;
  for (int i = 0; i < 12; ++i) {
    program.step();
    if (i < 5) program.alloc(100);
    program.free(program.alloc(7), 7);
  }
  EXPECT_TRUE(program.leaks().list.empty());
}

}  // namespace
}  // namespace stepscope::analysis
