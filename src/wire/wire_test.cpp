#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/checksum.h"
#include "wire/reader.h"
#include "wire/ticks.h"
#include "wire/writer.h"

namespace stepscope::wire {
namespace {

using testing::ElementsAre;

TEST(Checksum, KnownValues) {
  // The check value of CRC-32C, and of 32 zeros (RFC 3720, B.4).
  EXPECT_EQ(crc32c(std::string_view("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string_view("56789"), crc32c(std::string_view("1234"))), 0xe3069283U);
}

TEST(Numbers, ComeBack) {
  std::string bytes;
  const std::vector<std::uint64_t> values = {0, 1, 127, 128, 300, 1ULL << 35, ~0ULL};
  for (const std::uint64_t value : values) put_varint(bytes, value);
  put_text(bytes, "abc");
  Cursor cursor(bytes);
  for (const std::uint64_t value : values) EXPECT_EQ(cursor.varint(), value);
  EXPECT_EQ(cursor.text(), "abc");
  EXPECT_TRUE(cursor.ok() && cursor.at_end());
  EXPECT_EQ(cursor.varint(), 0U);
  EXPECT_FALSE(cursor.ok());
  for (const std::int64_t value : {0L, -1L, 1L, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
}

TEST(Numbers, LengthsAreNotTrusted) {
  std::string bytes;
  put_varint(bytes, ~0ULL);
  bytes += "abc";
  Cursor cursor(bytes);
  EXPECT_EQ(cursor.text(), "");
  EXPECT_FALSE(cursor.ok());
  Cursor endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
  endless.varint();
  EXPECT_FALSE(endless.ok());
}

struct Seen {
  std::uint64_t ticks;
  RecordKind kind;
  std::uint64_t what, value;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> events_in(std::span<const char> payload) {
  std::vector<Seen> seen;
  const auto thread =
      read_events(payload, [&](ThreadId, const Record& record, std::uint64_t value) {
        seen.push_back({record.ticks, record.kind(), record.what(), value});
      });
  EXPECT_TRUE(thread.has_value());
  return seen;
}

// A file as a process writes it, and where its blocks begin.
struct File {
  std::string bytes;
  std::vector<std::size_t> starts;
};

File sample() {
  File file;
  const auto block = [&] { file.starts.push_back(file.bytes.size()); };
  put_file_header(file.bytes);
  block();
  put_process(file.bytes, {{"pid", "17"}, {"rank", "3"}});
  block();
  put_anchor(file.bytes, {1'000, 50, 1'700'000'000'000'000'000});
  block();
  const std::vector<std::string_view> names = {"forward", "loss"};
  put_names(file.bytes, 0, names);
  block();
  put_thread(file.bytes, 1, 4711, "MainThread");
  block();
  const std::vector<Record> records = {{1'000, Record::pack(RecordKind::kBegin, 0)},
                                       {1'900, Record::pack(RecordKind::kCounter, 1)},
                                       {0, 0x3ff0000000000000},
                                       {1'800, Record::pack(RecordKind::kEnd, 0)},
                                       {2'000, Record::pack(RecordKind::kStep, 0)},
                                       {0, 7}};
  put_events(file.bytes, 1, records);
  block();
  put_logs(file.bytes, std::vector<LogLine>{{1'500, 1, 9, 6, 30, "root", "loss is nan"}});
  block();
  put_dropped(file.bytes, 1, 12);
  block();
  put_end(file.bytes, {.records = 4, .dropped = 12, .log_lines = 1, .bytes = 200, .writer_ns = 5});
  file.starts.push_back(file.bytes.size());
  return file;
}

std::vector<std::uint64_t> offsets(BlockReader& reader) {
  std::vector<std::uint64_t> found;
  while (const auto block = reader.next()) found.push_back(block->offset);
  return found;
}

TEST(Blocks, SayWhatWasWritten) {
  const File file = sample();
  BlockReader reader;
  reader.add(file.bytes);
  reader.finish();
  EXPECT_EQ(read_process(reader.next()->payload), (Fields{{"pid", "17"}, {"rank", "3"}}));
  EXPECT_EQ(read_anchor(reader.next()->payload)->wall_ns, 1'700'000'000'000'000'000);
  EXPECT_THAT(read_names(reader.next()->payload)->names, ElementsAre("forward", "loss"));
  EXPECT_EQ(read_thread(reader.next()->payload)->system_id, 4711);
  EXPECT_THAT(
      events_in(reader.next()->payload),
      ElementsAre(Seen{1'000, RecordKind::kBegin, 0, 0},
                  Seen{1'900, RecordKind::kCounter, 1, 0x3ff0000000000000},
                  Seen{1'800, RecordKind::kEnd, 0, 0}, Seen{2'000, RecordKind::kStep, 0, 7}));
  const auto logs = read_logs(reader.next()->payload);
  ASSERT_EQ(logs->size(), 1U);
  EXPECT_EQ(logs->front().text, "loss is nan");
  EXPECT_EQ(logs->front().step, 6);
  EXPECT_EQ(read_dropped(reader.next()->payload)->count, 12U);
  EXPECT_EQ(read_end(reader.next()->payload)->writer_ns, 5);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.skipped_bytes(), 0U);
}

TEST(Blocks, AnyBeginningIsReadable) {
  const File file = sample();
  for (std::size_t cut = 0; cut <= file.bytes.size(); ++cut) {
    BlockReader reader;
    reader.add({file.bytes.data(), cut});
    reader.finish();
    const std::vector<std::uint64_t> found = offsets(reader);
    std::size_t whole = 0;
    while (whole + 1 < file.starts.size() && file.starts[whole + 1] <= cut) ++whole;
    ASSERT_EQ(found.size(), whole) << "cut at " << cut;
    const std::size_t used = whole == 0 ? std::min(cut, kMagic.size()) : file.starts[whole];
    EXPECT_EQ(reader.skipped_bytes(), cut < kMagic.size() ? 0 : cut - used);
  }
}

TEST(Blocks, ComeInAnyPieces) {
  const File file = sample();
  for (const std::size_t piece : {1UL, 7UL, 64UL}) {
    BlockReader reader;
    std::vector<std::uint64_t> found;
    for (std::size_t at = 0; at < file.bytes.size(); at += piece) {
      reader.add({file.bytes.data() + at, std::min(piece, file.bytes.size() - at)});
      for (const std::uint64_t offset : offsets(reader)) found.push_back(offset);
    }
    EXPECT_EQ(found.size(), file.starts.size() - 1);
  }
}

// One changed byte costs its own block and no other.
TEST(Blocks, DamageCostsOneBlock) {
  const File file = sample();
  for (std::size_t at = kMagic.size(); at < file.bytes.size(); ++at) {
    std::string bytes = file.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    BlockReader reader;
    reader.add(bytes);
    reader.finish();
    EXPECT_EQ(offsets(reader).size(), file.starts.size() - 2) << "byte " << at;
    EXPECT_GT(reader.skipped_bytes(), 0U);
  }
}

TEST(Blocks, TellOtherFilesApart) {
  BlockReader other;
  other.add(std::string_view("{\"traceEvents\": []}"));
  other.finish();
  EXPECT_FALSE(other.next());
  EXPECT_TRUE(other.wrong_start());
  std::string newer;
  put_file_header(newer);
  newer.back() = '\x02';
  BlockReader reader;
  reader.add(newer);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.wrong_version());
}

TEST(Blocks, ManyEventsAndNames) {
  std::vector<Record> records;
  std::mt19937 random(7);
  std::uint64_t ticks = 1'000'000;
  for (int i = 0; i < 50'000; ++i) {
    ticks += random() % 1000;
    const bool counter = random() % 5 == 0;
    records.push_back({ticks, Record::pack(counter ? RecordKind::kCounter : RecordKind::kBegin,
                                           random() % 70'000)});
    if (counter) records.push_back({0, random()});
  }
  std::string bytes;
  put_file_header(bytes);
  put_events(bytes, 3, records);
  std::vector<std::string> texts(3'000, std::string(300, 'x'));
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  put_names(bytes, 5, names);
  BlockReader reader;
  reader.add(bytes);
  std::size_t at = 0;
  NameId next_name = 5;
  while (const auto block = reader.next()) {
    if (block->kind == BlockKind::kNames) {
      const auto run = read_names(block->payload);
      EXPECT_EQ(run->first, next_name);
      next_name += static_cast<NameId>(run->names.size());
      continue;
    }
    for (const Seen& seen : events_in(block->payload)) {
      ASSERT_EQ(seen.ticks, records[at].ticks);
      ASSERT_EQ(Record::pack(seen.kind, seen.what), records[at].word);
      if (has_value(seen.kind)) {
        ASSERT_EQ(seen.value, records[++at].word);
      }
      ++at;
    }
  }
  EXPECT_EQ(at, records.size());
  EXPECT_EQ(next_name, 3'005U);
}

// One block of the bytes, whatever came before it.
std::string payload_of(const std::string& bytes) { return bytes.substr(kBlockHeaderBytes); }

TEST(Samples, ComeBack) {
  const SampleBlock block{
      .ticks = {1'000, 1'100, ~0ULL, 5},
      .columns = {{.series = 0, .at = {0, 1, 2, 3}, .values = {7, -7, INT64_MAX, INT64_MIN}},
                  {.series = 900, .at = {1, 3}, .values = {1LL << 50, (1LL << 50) + 1}},
                  {.series = 3, .at = {}, .values = {}}}};
  std::string bytes;
  put_samples(bytes, block);
  const auto read = read_samples(payload_of(bytes));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ticks, block.ticks);
  ASSERT_EQ(read->columns.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->columns[i].series, block.columns[i].series);
    EXPECT_EQ(read->columns[i].at, block.columns[i].at);
    EXPECT_EQ(read->columns[i].values, block.columns[i].values);
  }
  bytes.clear();
  put_series(bytes, 900, {{"name", "gpu.power"}, {"unit", "mW"}});
  const auto series = read_series(payload_of(bytes));
  ASSERT_TRUE(series);
  EXPECT_EQ(series->series, 900U);
  EXPECT_EQ(series->about[1].second, "mW");
}

// A cut or changed payload gives samples at moments that exist, or nothing.
TEST(Samples, NothingIsTrusted) {
  std::string bytes;
  put_samples(bytes, {.ticks = {10, 20, 30},
                      .columns = {{.series = 1, .at = {0, 2}, .values = {4, 5}},
                                  {.series = 2, .at = {0, 1, 2}, .values = {1, 2, 3}}}});
  const std::string whole = payload_of(bytes);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int changed = 0; changed < 256; ++changed) {
      std::string broken = whole;
      broken[at] = static_cast<char>(changed);
      for (const std::string& text : {broken, whole.substr(0, at)}) {
        const auto read = read_samples(text);
        if (!read) continue;
        for (const SampleColumn& column : read->columns) {
          ASSERT_EQ(column.at.size(), column.values.size());
          for (std::size_t i = 0; i < column.at.size(); ++i) {
            ASSERT_LT(column.at[i], read->ticks.size());
            ASSERT_TRUE(i == 0 || column.at[i] > column.at[i - 1]);
          }
        }
      }
    }
  }
}

TEST(TickClock, InterpolatesAndIgnoresSetClocks) {
  TickClock clock;
  clock.add({1'000, 100, 5'100});
  clock.add({3'000, 1'100, 6'100});
  clock.add({5'000, 2'100, 9'999'100});  // the wall clock was set
  EXPECT_EQ(clock.elapsed_ns(1'000), 0);
  EXPECT_EQ(clock.elapsed_ns(2'000), 500);
  EXPECT_EQ(clock.elapsed_ns(5'000), 2'000);
  EXPECT_EQ(clock.elapsed_ns(7'000), 3'000);
  EXPECT_EQ(clock.elapsed_ns(0), -500);
  EXPECT_EQ(clock.largest_set(), 9'992'000);
}

// The quick way between two anchors gives what the long division does, to the nanosecond.
TEST(TickClock, IsExactBetweenAnchors) {
  for (const std::uint64_t length : {1ULL, 7ULL, 999'999'937ULL, 3'000'000'019ULL, 1ULL << 33}) {
    for (const std::int64_t between : {1LL, 3LL, 999'999'999LL}) {
      TickClock clock;
      clock.add({0, 0, 0});
      clock.add({length, between, between});
      for (std::uint64_t i = 0; i < 1'000; ++i) {
        const std::uint64_t ticks = length / 1'000 * i + i % length;
        if (ticks >= length) continue;
        EXPECT_EQ(clock.elapsed_ns(ticks),
                  static_cast<std::int64_t>(ticks * static_cast<std::uint64_t>(between) / length));
      }
    }
  }
}

TEST(TickClock, EndsAtTheEdgeOfTime) {
  TickClock clock;
  clock.add(
      {0, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
  clock.add(
      {1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  const base::Nanos late = clock.elapsed_ns(~0ULL / 2);
  const base::Nanos early = clock.elapsed_ns(~0ULL / 2 + 1);
  EXPECT_GT(late - early, 0);  // does not overflow
  EXPECT_GT(clock.largest_set(), 0);
}

}  // namespace
}  // namespace stepscope::wire
