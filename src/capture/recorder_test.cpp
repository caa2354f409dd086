// The recorder, and what a reader of its files finds: ranges, steps, values, log lines, forks and
// full rings.
#include "capture/recorder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "wire/reader.h"
#include "wire/ticks.h"

namespace stepscope::capture {
namespace {

// What a file says, put together.
struct ReadBack {
  std::vector<std::string> names;
  std::map<std::string, std::string> process;
  std::map<wire::ThreadId, std::vector<std::pair<wire::RecordKind, std::string>>> ranges;
  std::map<wire::ThreadId, std::vector<std::uint64_t>> ticks;
  std::vector<std::uint64_t> lanes;
  std::vector<wire::LogLine> logs;
  std::vector<std::int64_t> steps, begun_steps;
  std::vector<double> values;
  std::uint64_t dropped = 0, records = 0, marks_lost = 0;
  std::optional<wire::Cost> end;
  std::uint64_t skipped = 0;
  wire::TickClock clock;
};

ReadBack read(const std::string& path, bool with_ranges = true) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ReadBack found;
  wire::BlockReader reader;
  reader.add(bytes);
  reader.finish();
  while (const auto block = reader.next()) {
    switch (block->kind) {
      case wire::BlockKind::kProcess: {
        const auto fields = wire::read_process(block->payload);
        for (const auto& [key, value] : *fields) found.process[key] = value;
        break;
      }
      case wire::BlockKind::kAnchor:
        found.clock.add(*wire::read_anchor(block->payload));
        break;
      case wire::BlockKind::kNames: {
        const auto run = wire::read_names(block->payload);
        for (const std::string_view name : run->names) found.names.emplace_back(name);
        break;
      }
      case wire::BlockKind::kEvents:
        EXPECT_TRUE(wire::read_events(
            block->payload,
            [&](wire::ThreadId thread, const wire::Record& record, std::uint64_t value) {
              ++found.records;
              switch (record.kind()) {
                case wire::RecordKind::kLane:
                  found.lanes.push_back(record.what());
                  break;
                case wire::RecordKind::kStep:
                  ((record.what() & wire::kStepBegins) == 0 ? found.steps : found.begun_steps)
                      .push_back(static_cast<std::int64_t>(value));
                  found.marks_lost += (record.what() & wire::kMarksLost) != 0 ? 1 : 0;
                  break;
                case wire::RecordKind::kCounter:
                  found.values.push_back(std::bit_cast<double>(value));
                  break;
                default:
                  if (!with_ranges) break;
                  found.ranges[thread].emplace_back(record.kind(), found.names.at(record.what()));
                  found.ticks[thread].push_back(record.ticks);
              }
            }));
        break;
      case wire::BlockKind::kLogs: {
        const auto lines = wire::read_logs(block->payload);
        found.logs.insert(found.logs.end(), lines->begin(), lines->end());
        break;
      }
      case wire::BlockKind::kDropped:
        found.dropped += wire::read_dropped(block->payload)->count;
        break;
      case wire::BlockKind::kEnd:
        found.end = wire::read_end(block->payload);
        break;
      case wire::BlockKind::kThread:
        EXPECT_TRUE(wire::read_thread(block->payload));
        break;
      case wire::BlockKind::kSeries:  // of the sampler
      case wire::BlockKind::kSamples:
        ADD_FAILURE() << "a process records no samples";
        break;
    }
  }
  found.skipped = reader.skipped_bytes();
  return found;
}

class Recording : public testing::Test {
 protected:
  void TearDown() override { stop(); }
  std::string file() const { return folder_ / "events.scope"; }

  base::TempFolder folder_;
};

using enum wire::RecordKind;

TEST_F(Recording, HoldsWhatWasRecorded) {
  ASSERT_TRUE(start({.folder = folder_.path(), .about = {{"rank", "3"}}}));
  const wire::NameId outer = name_id("outer"), inner = name_id("inner");
  log(20, "root", "before the first step");
  begin_step(5);
  begin(outer);
  begin(inner);
  end(inner);
  end(outer);
  step(5);
  counter(name_id("loss"), 0.25);
  log(30, "train", "loss is high");
  stop();
  const ReadBack found = read(file());
  EXPECT_EQ(found.process.at("rank"), "3");
  EXPECT_EQ(found.process.at("pid"), std::to_string(getpid()));
  ASSERT_EQ(found.ranges.size(), 1U);
  EXPECT_EQ(found.ranges.begin()->second,
            (std::vector<std::pair<wire::RecordKind, std::string>>{
                {kBegin, "outer"}, {kBegin, "inner"}, {kEnd, "inner"}, {kEnd, "outer"}}));
  EXPECT_TRUE(std::ranges::is_sorted(found.ticks.begin()->second));
  EXPECT_EQ(found.begun_steps, std::vector<std::int64_t>{5});
  EXPECT_EQ(found.steps, std::vector<std::int64_t>{5});
  EXPECT_EQ(found.values, std::vector<double>{0.25});
  ASSERT_EQ(found.logs.size(), 2U);
  EXPECT_EQ(found.logs[0].step, -1);
  EXPECT_EQ(found.logs[1].step, 6);
  EXPECT_EQ(found.logs[1].text, "loss is high");
  ASSERT_TRUE(found.end);
  EXPECT_EQ(found.skipped, 0U);
}

TEST_F(Recording, TicksAreTheWallClock) {
  const auto wall = [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  };
  ASSERT_TRUE(start({.folder = folder_.path()}));
  const std::int64_t before = wall();
  begin(name_id("sleep"));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  end(name_id("sleep"));
  const std::int64_t after = wall();
  stop();
  const ReadBack found = read(file());
  const std::int64_t began = found.clock.wall_ns(found.ticks.begin()->second[0]);
  const std::int64_t ended = found.clock.wall_ns(found.ticks.begin()->second[1]);
  // Anchors are exact to some microseconds.
  EXPECT_GE(began, before - 100'000);
  EXPECT_LE(ended, after + 100'000);
  EXPECT_GE(ended - began, 29'900'000);
}

TEST_F(Recording, NothingHappensWithoutOne) {
  begin(name_id("not recorded"));
  end(name_id("not recorded"));
  log(20, "root", "not recorded");
  EXPECT_FALSE(is_recording());
  EXPECT_TRUE(path().empty());
  flush();
  stop();
}

TEST_F(Recording, ThreadsHaveTheirOwn) {
  ASSERT_TRUE(start({.folder = folder_.path()}));
  const wire::NameId name = name_id("work");
  constexpr int kThreads = 8, kRanges = 20'000;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRanges; ++i) {
        begin(name);
        end(name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop();
  const ReadBack found = read(file());
  EXPECT_EQ(found.ranges.size(), static_cast<std::size_t>(kThreads));
  // All of it, or counted: a begin or an end is one record.
  EXPECT_EQ(found.records + found.dropped, 2ULL * kThreads * kRanges);
  EXPECT_EQ(found.end->records, found.records);
}

TEST_F(Recording, LanesAreToldWhenTheyChange) {
  ASSERT_TRUE(start({.folder = folder_.path()}));
  const wire::NameId name = name_id("task");
  begin(name, 7);
  begin(name, 8);
  end(name, 7);
  end(name, 8);
  begin(name);
  end(name);
  stop();
  EXPECT_EQ(read(file()).lanes, (std::vector<std::uint64_t>{7, 8, 7, 8, 0}));
}

TEST_F(Recording, AFullRingDropsAndCounts) {
  Ring ring(1, 1);
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < Ring::kPlaces + 100; ++i) {
    kept += ring.push({i, 0}, Ring::kForEnds) ? 1 : 0;
  }
  EXPECT_EQ(kept, Ring::kPlaces - Ring::kForEnds);
  EXPECT_EQ(ring.take_dropped(), Ring::kPlaces + 100 - kept);
  EXPECT_TRUE(ring.push({1, 0}, 0));  // an end still finds room
  std::vector<wire::Record> drained;
  ring.drain(drained);
  EXPECT_EQ(drained.size(), kept + 1);
  EXPECT_TRUE(ring.push({1, 0}, {2, 0}, Ring::kForEnds));
}

std::uint64_t resident_bytes() {
  std::uint64_t whole = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Threads that never pause make more than one writer can take, however fast it is. All of it is
// there or counted, marks of steps are all there, and memory does not grow.
TEST_F(Recording, TooMuchAtOnceIsCountedAndTakesNoMemory) {
  ASSERT_TRUE(start({.folder = folder_.path()}));
  const wire::NameId name = name_id("burst");
  constexpr std::uint64_t kThreads = 2;
  constexpr std::int64_t kRanges = 20'000;  // of each step
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> made = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  const auto burst = [&](std::int64_t ranges) {
    for (std::int64_t i = 0; i < ranges; ++i) {
      begin(name);
      end(name);
    }
    made.fetch_add(static_cast<std::uint64_t>(ranges) * 2);
  };
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (!done.load()) burst(1'000);
    });
  }
  const std::uint64_t before = resident_bytes();
  begin_step(0);
  std::int64_t steps = 0;
  while (steps < 10 || (cost().dropped == 0 && steps < 500)) {
    burst(kRanges);
    step(steps++);
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t after = resident_bytes();
  stop();
  const ReadBack found = read(file(), false);
  ASSERT_TRUE(found.end);
  EXPECT_GT(found.dropped, 0U);
  EXPECT_EQ(found.end->dropped, found.dropped);
  EXPECT_EQ(found.records + found.dropped, made.load() + static_cast<std::uint64_t>(steps) + 1);
  EXPECT_EQ(found.steps.size(), static_cast<std::size_t>(steps));
  EXPECT_EQ(found.marks_lost, 0U);
  // A ring of a thread has 1 MiB, and what is drained of it at once is written in between.
  EXPECT_LT(after, before + (std::uint64_t{64} << 20));
}

// Nothing but marks, faster than they can be written: the next that finds room tells of the others.
TEST_F(Recording, AMarkTellsOfThoseBeforeItThatFoundNoRoom) {
  ASSERT_TRUE(start({.folder = folder_.path()}));
  constexpr std::int64_t kMarks = 500'000;
  for (std::int64_t number = 0; number < kMarks; ++number) step(number);
  flush();
  step(kMarks);
  stop();
  const ReadBack found = read(file());
  ASSERT_GT(found.dropped, 0U);
  EXPECT_EQ(found.steps.size() + found.dropped, static_cast<std::size_t>(kMarks) + 1);
  std::uint64_t gaps = 0;
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    gaps += found.steps[i] != (i == 0 ? 0 : found.steps[i - 1] + 1) ? 1 : 0;
  }
  EXPECT_GT(gaps, 0U);
  EXPECT_EQ(found.marks_lost, gaps);
}

// What cannot say on which lane it is would end a range of another one.
TEST_F(Recording, WhatFindsNoRoomForItsLaneIsLostWithIt) {
  Ring ring(1, 1);
  while (ring.push({0, 0}, Ring::kForSteps)) continue;
  EXPECT_FALSE(detail::change_lane(ring, 7, Ring::kForSteps));
  EXPECT_EQ(ring.lane, 0U);
  std::vector<wire::Record> drained;
  ring.drain(drained);
  EXPECT_TRUE(detail::change_lane(ring, 7, Ring::kForSteps));
  EXPECT_EQ(ring.lane, 7U);
}

// In a process of its own, since they are never forgotten.
TEST_F(Recording, NamesAreBoundedAndKeepTheirNumbers) {
  const pid_t child = fork();
  if (child != 0) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return;
  }
  const wire::NameId known = name_id("known before");
  const std::string longest(wire::kLongestText, 'x');
  EXPECT_EQ(name_id(longest + "a"), name_id(longest + "b"));  // cut, as the file cuts them
  for (std::size_t i = 0; i <= kMostNames; ++i) name_id("name " + std::to_string(i));
  const wire::NameId shared = name_id("one of too many");
  EXPECT_EQ(shared, name_id("another"));
  EXPECT_FALSE(is_name(shared, "another"));
  EXPECT_TRUE(is_name(shared, "(further names)"));
  EXPECT_EQ(known, name_id("known before"));
  EXPECT_TRUE(is_name(known, "known before"));
  _exit(HasFailure() ? 1 : 0);
}

TEST_F(Recording, IsNotStartedWithoutAFolder) {
  const base::Status nowhere = start({.folder = ""});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message, "no folder was given to record to");
}

TEST_F(Recording, IsNeverWrittenOver) {
  ASSERT_TRUE(start({.folder = folder_.path()}));
  EXPECT_FALSE(start({.folder = folder_.path()}));  // runs already
  stop();
  const base::Status again = start({.folder = folder_.path()});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("exists already"), std::string::npos);
  const base::Status nowhere = start({.folder = folder_ / "missing"});
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("No such file"), std::string::npos);
}

TEST_F(Recording, SeveralAfterEachOther) {
  for (int i = 0; i < 3; ++i) {
    const std::string name = "events-" + std::to_string(i) + ".scope";
    ASSERT_TRUE(start({.folder = folder_.path(), .file = name}));
    begin(name_id("again"));
    end(name_id("again"));
    stop();
    const ReadBack found = read(folder_ / name);
    ASSERT_EQ(found.ranges.size(), 1U);
    EXPECT_EQ(found.ranges.begin()->second.size(), 2U);
  }
}

// A child of a fork writes a file of its own, and the parent's stays whole.
TEST_F(Recording, AForkedChildHasItsOwnFile) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads after a fork";
#endif
  ASSERT_TRUE(start({.folder = folder_.path()}));
  const wire::NameId name = name_id("before the fork");
  begin(name);
  flush();  // the writer has started: locks that it holds in AddressSanitizer stay locked in a
            // child
  const pid_t child = fork();
  if (child == 0) {
    begin(name_id("in the child"));
    end(name_id("in the child"));
    stop();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  end(name);
  stop();
  const ReadBack parent = read(file());
  EXPECT_EQ(parent.records, 2U);
  const ReadBack own = read(folder_ / ("worker-" + std::to_string(child) + ".scope"));
  ASSERT_EQ(own.ranges.size(), 1U);
  EXPECT_EQ(own.ranges.begin()->second[0].second, "in the child");
  EXPECT_EQ(own.process.at("parent_pid"), std::to_string(getpid()));
  EXPECT_TRUE(own.end);
}

// A child that records nothing leaves no file.
TEST_F(Recording, AQuietChildLeavesNothing) {
  ASSERT_TRUE(start({.folder = folder_.path()}));
  flush();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  stop();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

// Killed at any moment, a process leaves all that was flushed and what the writer had written.
TEST_F(Recording, SurvivesBeingKilled) {
  for (int round = 0; round < 5; ++round) {
    const std::string name = "killed-" + std::to_string(round) + ".scope";
    const pid_t child = fork();
    if (child == 0) {
      if (!start({.folder = folder_.path(), .file = name})) _exit(1);
      const wire::NameId counted = name_id("counted");
      for (int i = 0; i < 1000; ++i) counter(counted, i);
      flush();
      for (int i = 1000;; ++i) {
        counter(counted, i);
        if (i == 5000 + round * 777) raise(SIGKILL);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const ReadBack found = read(folder_ / name);
    EXPECT_FALSE(found.end);
    ASSERT_GE(found.values.size(), 1000U);
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      ASSERT_EQ(found.values[i], static_cast<double>(i));
    }
  }
}

}  // namespace
}  // namespace stepscope::capture
