// Work is shared among threads: each piece once, failures passed on, kept threads reused.
#include "base/parallel.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <set>
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

TEST(Parallel, AFailureWakesThoseThatWait) {
  std::atomic<bool> failed = false;
  const auto body = [&](std::size_t thread) {
    if (thread == 1) throw std::bad_alloc();
    while (!failed) std::this_thread::yield();
  };
  EXPECT_THROW(on_threads(3, body, [&] { failed = true; }), std::bad_alloc);
}

TEST(Parallel, WorkInsideOfOtherWork) {
  std::atomic<int> done = 0;
  parallel_for(4, 2, [&](std::size_t) {
    parallel_for(4, 2, [&](std::size_t) { ++done; });
    parallel_for(4, 1, [&](std::size_t) { ++done; });
  });
  EXPECT_EQ(done, 32);
}

// The ids of those that take part, once all have begun.
std::set<pid_t> those_at_work(std::size_t threads) {
  std::mutex mutex;
  std::set<pid_t> ids;
  std::atomic<std::size_t> begun = 0;
  on_threads(threads, [&](std::size_t) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(gettid());  // a std::thread::id may come again
    }
    ++begun;
    while (begun < threads) std::this_thread::yield();
  });
  EXPECT_EQ(ids.size(), threads);
  return ids;
}

TEST(Parallel, ThreadsThatAreKeptDoAllPieces) {
  const KeepThreads keep;
  const auto two = those_at_work(2);
  EXPECT_EQ(those_at_work(2), two);
  const auto four = those_at_work(4);
  EXPECT_TRUE(std::includes(four.begin(), four.end(), two.begin(), two.end()));
  {
    const KeepThreads again;  // those that are kept already
    EXPECT_EQ(those_at_work(4), four);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // they are asleep by now
  EXPECT_EQ(those_at_work(4), four);
  EXPECT_THROW(on_threads(4,
                          [](std::size_t thread) {
                            if (thread == 2) throw std::bad_alloc();
                          }),
               std::bad_alloc);
  EXPECT_EQ(those_at_work(4), four);
}

TEST(Parallel, KeptThreadsAreBusyForWorkInsideOfTheirs) {
  const KeepThreads keep;
  std::atomic<int> done = 0;
  for (int i = 0; i < 20; ++i) {
    parallel_for(4, 2, [&](std::size_t) {
      const KeepThreads inside;
      parallel_for(4, 2, [&](std::size_t) { ++done; });
      parallel_for(4, 3, [&](std::size_t) { ++done; });
    });
  }
  EXPECT_EQ(done, 20 * 4 * 8);
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
// left, from the back.
TEST(Parallel, AThreadThatIsDoneTakesTheLastPiecesOfOthers) {
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
