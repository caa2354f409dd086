#include "base/parallel.h"

#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

TEST(Parallel, EveryPieceIsDoneOnce) {
  for (const std::size_t pieces : {0U, 1U, 2U, 7U, 1000U}) {
    for (const unsigned threads : {0U, 1U, 2U, 3U, 16U}) {
      std::vector<std::atomic<int>> by_turn(pieces), by_stretch(pieces);
      parallel_for(pieces, threads, [&](std::size_t i) { ++by_turn[i]; });
      parallel_stretches(pieces, threads, [&](std::size_t i, std::size_t) { ++by_stretch[i]; });
      for (std::size_t i = 0; i < pieces; ++i) {
        EXPECT_EQ(by_turn[i], 1);
        EXPECT_EQ(by_stretch[i], 1);
      }
    }
  }
}

TEST(Parallel, WhatAPieceThrowsReachesTheCaller) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::size_t bad : {0U, 3U, 7U}) {
      const auto throws = [&](std::size_t i) {
        if (i == bad) throw std::bad_alloc();
      };
      EXPECT_THROW(parallel_for(8, threads, throws), std::bad_alloc);
      EXPECT_THROW(parallel_stretches(8, threads, [&](std::size_t i, std::size_t) { throws(i); }),
                   std::bad_alloc);
    }
  }
}

TEST(Parallel, WhoWaitsForOneThatFailsIsTold) {
  std::atomic<bool> told = false;
  const auto body = [&](std::size_t thread) {
    if (thread == 1) throw std::bad_alloc();
    while (!told) std::this_thread::yield();
  };
  EXPECT_THROW(on_threads(3, body, [&] { told = true; }), std::bad_alloc);
}

// What a thread is part of ends before it does; sanitizers see who looks at it later.
TEST(Parallel, WorkInsideOfOtherWork) {
  std::atomic<int> done = 0;
  parallel_for(4, 2, [&](std::size_t) {
    parallel_for(4, 2, [&](std::size_t) { ++done; });
    keep_apart();
    parallel_for(4, 1, [&](std::size_t) { ++done; });
    keep_apart();
  });
  keep_apart();
  EXPECT_EQ(done, 32);
}

TEST(Parallel, AThreadGoesThroughItsOwnStretch) {
  std::vector<std::size_t> pieces;
  parallel_stretches(5, 1, [&](std::size_t i, std::size_t thread) {
    EXPECT_EQ(thread, 0U);
    pieces.push_back(i);
  });
  EXPECT_EQ(pieces, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// One of two threads stands still in its first piece: the other does its own and then all that is
// left, from behind.
TEST(Parallel, WhoIsDoneTakesTheLastPiecesOfOthers) {
  constexpr std::size_t kPieces = 10;
  std::atomic<bool> both_began{false};
  std::atomic<std::size_t> done{0};
  std::mutex mutex;
  std::vector<std::vector<std::size_t>> by_thread(2);
  parallel_stretches(kPieces, 2, [&](std::size_t i, std::size_t thread) {
    {
      const std::lock_guard lock(mutex);
      by_thread[thread].push_back(i);
    }
    if (i == 0) both_began = true;
    while (!both_began) std::this_thread::yield();
    while (i == 0 && done < kPieces - 1) std::this_thread::yield();
    ++done;
  });
  EXPECT_EQ(by_thread[0], (std::vector<std::size_t>{0}));
  EXPECT_EQ(by_thread[1], (std::vector<std::size_t>{5, 6, 7, 8, 9, 4, 3, 2, 1}));
}

}  // namespace
}  // namespace stepscope::base
