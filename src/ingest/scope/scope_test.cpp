#include "ingest/scope/scope.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/process_record.h"
#include "wire/writer.h"

namespace stepscope::ingest::scope {
namespace {

using base::Note;
using testing::ElementsAre;
using wire::Record;
using wire::RecordKind;

constexpr std::int64_t kWall = 1'700'000'000'000'000'000;

// One tick is one nanosecond here, and the first anchor is the trace's zero.
class File {
 public:
  File() {
    wire::put_file_header(bytes);
    wire::put_process(bytes, {{"pid", "17"}, {"rank", "3"}, {"host", "node1"}});
    anchor(0);
    wire::put_thread(bytes, 1, 100, "MainThread");
  }
  void anchor(std::uint64_t ticks) {
    const auto ns = static_cast<std::int64_t>(ticks);
    wire::put_anchor(bytes, {1'000 + ticks, 5'000 + ns, kWall + ns});
  }
  void names(std::vector<std::string_view> list) { wire::put_names(bytes, 0, list); }
  void events(std::vector<Record> records) {
    for (Record& record : records) record.ticks += record.ticks == kValue ? 0 : 1'000;
    wire::put_events(bytes, 1, records);
  }
  base::Result<trace::Trace> read() const {
    return scope::read(bytes::memory_source("events.scope", bytes), {});
  }

  static constexpr std::uint64_t kValue = ~0ULL;  // ticks of a record that holds a value
  std::string bytes;
};

Record begin(std::uint64_t at, std::uint64_t name) {
  return {at, Record::pack(RecordKind::kBegin, name)};
}
Record end(std::uint64_t at, std::uint64_t name) {
  return {at, Record::pack(RecordKind::kEnd, name)};
}
Record shard(std::uint64_t at, std::uint64_t number) {
  return {at, Record::pack(RecordKind::kLane, number)};
}
Record step(std::uint64_t at) { return {at, Record::pack(RecordKind::kStep, 0)}; }
Record value(std::uint64_t word) { return {File::kValue, word}; }

// "track name start+duration" of every event, by track, then start.
std::vector<std::string> told(const trace::Trace& trace) {
  std::vector<std::string> list;
  list.reserve(trace.size());
  for (trace::Row row = 0; row < trace.size(); ++row) {
    list.push_back(trace.tracks()[trace.track()[row]].thread + " " +
                   std::string(trace.name_text(row)) + " " + std::to_string(trace.start()[row]) +
                   "+" + std::to_string(trace.duration()[row]));
  }
  return list;
}

TEST(Scope, RangesNestOnTheirThread) {
  File file;
  file.names({"outer", "inner"});
  file.anchor(1'000);
  file.events({begin(100, 0), begin(200, 1), end(300, 1), end(900, 0)});
  wire::put_end(file.bytes, {});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_THAT(told(*trace), ElementsAre("100 outer 100+800", "100 inner 200+100"));
  EXPECT_EQ(trace->parent()[1], 0U);
  EXPECT_EQ(trace->kind()[0], trace::Kind::kAnnotation);
  EXPECT_EQ(trace->clock().base_ns, kWall);
  EXPECT_EQ(trace->header().distributed->rank, 3);
  EXPECT_EQ(trace->header().host, "node1");
  EXPECT_EQ(trace->tracks()[0].thread_name, "MainThread");
  EXPECT_FALSE(trace->log().lost_data());
  EXPECT_EQ(trace->log().count(Note::kNotFinished), 0U);
}

TEST(Scope, TasksHaveTheirOwnTracks) {
  File file;
  file.names({"task"});
  file.anchor(1'000);
  file.events({shard(10, 7), begin(10, 0), shard(20, 8), begin(20, 0), shard(30, 7), end(30, 0),
               shard(40, 8), end(40, 0), shard(50, 0), begin(50, 0), end(60, 0)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_THAT(told(*trace), testing::UnorderedElementsAre("100 task 50+10", "task 7 task 10+20",
                                                          "task 8 task 20+20"));
}

TEST(Scope, StepsLastFromMarkToMark) {
  File file;
  file.anchor(1'000);
  file.events({step(100), value(4), step(300), value(5), step(600), value(6)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->steps().list.size(), 2U);
  EXPECT_EQ(trace->steps().source, trace::StepSource::kProfilerStep);
  EXPECT_EQ(trace->steps().list[0].number, 5);
  EXPECT_EQ(trace->steps().list[0].start, 100);
  EXPECT_EQ(trace->steps().list[1].end, 600);
}

TEST(Scope, WhatComesBeforeAStepBeginsBelongsToNone) {
  File file;
  file.anchor(1'000);
  const Record begins{400, Record::pack(RecordKind::kStep, 1)};
  file.events({step(100), value(4), step(300), value(5), begins, value(6), step(600), value(6)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->steps().list.size(), 2U);
  EXPECT_EQ(trace->steps().list[0].end, 300);
  EXPECT_EQ(trace->steps().list[1].number, 6);
  EXPECT_EQ(trace->steps().list[1].start, 400);
}

TEST(Scope, LostMarksOfStepsAreTold) {
  File file;
  file.anchor(1'000);
  constexpr auto kLost = static_cast<std::uint64_t>(wire::kMarksLost);
  const Record after{500, Record::pack(RecordKind::kStep, kLost)};
  file.events({step(100), value(4), step(200), value(5)});
  wire::put_dropped(file.bytes, 1, 9);  // of other records
  wire::put_dropped(file.bytes, wire::kLogLines, 1);
  file.events({step(300), value(6), after, value(8), step(600), value(9)});
  wire::put_dropped(file.bytes, wire::kAllThreads, 2);  // whatever they were
  file.events({step(700), value(10), step(800), value(11)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_THAT(told(*trace),
              ElementsAre("steps ProfilerStep#5 100+100", "steps ProfilerStep#6 200+100",
                          "steps ProfilerStep#9 500+100", "steps ProfilerStep#11 700+100"));
  EXPECT_EQ(trace->header().process_record->lost_steps, 3U);  // 7, 8 and 10
}

TEST(Scope, NumbersOfStepsMayBeAnyInADamagedFile) {
  File file;
  file.anchor(1'000);
  constexpr auto kLost = static_cast<std::uint64_t>(wire::kMarksLost);
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  file.events({step(100),
               value(static_cast<std::uint64_t>(-kFar)),
               {500, Record::pack(RecordKind::kStep, kLost)},
               value(static_cast<std::uint64_t>(kFar))});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->header().process_record->lost_steps, 2 * static_cast<std::uint64_t>(kFar));
}

// A range may begin in one step and end in the next.
TEST(Scope, StepsDoNotDisturbTheNesting) {
  File file;
  file.names({"outer", "inner"});
  file.anchor(1'000);
  file.events({step(50), value(0), begin(100, 0), step(200), value(1), begin(300, 1), end(350, 1),
               end(500, 0), step(600), value(2)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_THAT(told(*trace),
              ElementsAre("100 outer 100+400", "100 inner 300+50", "steps ProfilerStep#1 50+150",
                          "steps ProfilerStep#2 200+400"));
  EXPECT_EQ(trace->parent()[1], 0U);
  EXPECT_EQ(trace->log().count(Note::kOverlappingSpans), 0U);
}

TEST(Scope, SaysWhoRecordedWhatAndAtWhatCost) {
  File file;
  file.names({"a", "loss"});
  file.anchor(2'000);
  file.events({begin(100, 0),
               end(200, 0),
               begin(300, 0),
               {400, Record::pack(RecordKind::kCounter, 1)},
               value(0)});
  wire::put_logs(file.bytes, std::vector<wire::LogLine>{{1'500, 1, 0, 6, 40, "train", "lost"}});
  wire::put_dropped(file.bytes, 1, 3);
  wire::put_end(file.bytes, {.records = 4, .bytes = 100, .lost_bytes = 7, .writer_ns = 20});
  const auto trace = read(bytes::memory_source("x/worker-17.scope", file.bytes), {});
  ASSERT_TRUE(trace);
  const trace::ProcessRecord& record = *trace->header().process_record;
  EXPECT_TRUE(record.is_worker);
  EXPECT_FALSE(file.read()->header().process_record->is_worker);
  EXPECT_EQ(record.pid, 17);
  EXPECT_EQ(record.ranges, 2U);
  EXPECT_EQ(record.open_ranges, 1U);
  EXPECT_EQ(record.counter_values, 1U);
  EXPECT_EQ(record.dropped, 3U);
  EXPECT_EQ(record.length, 2'000);
  ASSERT_EQ(record.log.size(), 1U);
  EXPECT_EQ(record.log[0].step, 6);
  EXPECT_EQ(record.log[0].thread, "MainThread");
  ASSERT_TRUE(record.cost);
  EXPECT_EQ(record.cost->lost_bytes, 7U);
  EXPECT_EQ(record.cost->writer_ns, 20);
}

// Ticks that no process can have counted: nothing overflows, and the rest is whole.
TEST(Scope, SurvivesAbsurdTicks) {
  File file;
  file.names({"a"});
  file.anchor(1'000);
  file.events({begin(100, 0), end(~0ULL / 2, 0), begin(200, 0), end(150, 0), begin(300, 0)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->log().count(Note::kAbsurdDuration), 1U);
  EXPECT_EQ(trace->log().count(Note::kNegativeDuration), 1U);
  EXPECT_EQ(trace->size(), 3U);
}

TEST(Scope, LogLinesKeepTheirText) {
  File file;
  file.anchor(1'000);
  wire::put_logs(file.bytes,
                 std::vector<wire::LogLine>{{1'500, 1, 0, 6, 30, "train", "loss is nan\n\"see\""}});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_THAT(told(*trace), ElementsAre("100 loss is nan 500+0"));
  EXPECT_EQ(*trace->event_text(0), R"({"args":{"level":"warning","logger":"train","step":6,)"
                                   R"("text":"loss is nan\n\"see\""}})");
}

TEST(Scope, CountersHaveValues) {
  File file;
  file.names({"loss"});
  file.anchor(1'000);
  file.events({{200, Record::pack(RecordKind::kCounter, 0)}, value(0x3fd0000000000000)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->counters().value.size(), 1U);
  EXPECT_EQ(trace->counters().value[0], 0.25);
}

TEST(Scope, WhatWasOpenLastsToTheEnd) {
  File file;
  file.names({"epoch", "step"});
  file.anchor(1'000);
  file.events({begin(100, 0), begin(200, 1), end(700, 1)});
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_THAT(told(*trace), ElementsAre("100 epoch 100+900", "100 step 200+500"));
  EXPECT_EQ(trace->log().count(Note::kUnclosedBegin), 1U);
  EXPECT_EQ(trace->log().count(Note::kNotFinished), 1U);
}

TEST(Scope, LossesAreCounted) {
  File file;
  file.names({"a"});
  file.anchor(1'000);
  file.events({end(50, 0), begin(100, 0), end(200, 0)});
  wire::put_dropped(file.bytes, 1, 12);
  std::string cut;
  wire::put_end(cut, {});
  file.bytes += cut.substr(0, cut.size() - 1);
  const auto trace = file.read();
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->log().count(Note::kEndWithoutBegin), 1U);
  EXPECT_EQ(trace->log().count(Note::kRecordsDropped), 12U);
  EXPECT_EQ(trace->log().count(Note::kTruncated), 1U);
  EXPECT_TRUE(trace->log().lost_data());
}

// Every beginning of a file opens or says why not; nothing crashes.
TEST(Scope, AnyBeginningOpens) {
  File file;
  file.names({"a", "b"});
  file.anchor(1'000);
  file.events({begin(100, 0), step(150), value(1), begin(160, 1), end(170, 1), end(200, 0)});
  wire::put_logs(file.bytes, std::vector<wire::LogLine>{{1'500, 1, 0, 6, 30, "train", "x"}});
  wire::put_end(file.bytes, {});
  for (std::size_t size = 0; size <= file.bytes.size(); ++size) {
    const auto trace = read(bytes::memory_source("cut", file.bytes.substr(0, size)), {});
    if (!trace) {
      EXPECT_THAT(trace.error().message, testing::StartsWith("cut"));
    }
  }
}

TEST(Scope, OtherVersionsAreRefused) {
  File file;
  file.bytes[7] = '\x02';
  EXPECT_THAT(file.read().error().message, testing::HasSubstr("newer stepscope"));
}

}  // namespace
}  // namespace stepscope::ingest::scope
