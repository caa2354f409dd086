// Text that once was read wrongly, through the whole reader: fast and reference, in one block and
// in many. What a user can see of it is in tests/golden; what fuzzing finds comes here.
#include "ingest/kineto/kineto.h"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bytes/source.h"
#include "ingest/kineto/read_for_tests.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Note;
using testing::ElementsAre;
using testing::ElementsAreArray;

struct DamagedText {
  const char* name;
  std::string text;
  std::vector<std::string> events;
  std::vector<Odd> odd;
};

const std::string kB = R"({"ph":"X","name":"b","ts":4,"dur":2})";
const std::string kMuchSpace(5000, ' ');

const std::vector<DamagedText> kDamagedTexts = {
    {"a file cut inside an event is cut once, there",
     R"({"traceEvents":[)" + kA + R"(,{"ph":"X","na)",
     {"a"},
     {{Note::kTruncated, 1, 53}}},
    {"a file cut between events is cut once",
     R"({"traceEvents":[)" + kA + ",",
     {"a"},
     {{Note::kTruncated, 1, 53}}},
    {"a file cut behind a key keeps its events",
     R"({"traceEvents":[)" + kA + R"(],"traceName")",
     {"a"},
     {{Note::kTruncated, 1, 65}}},
    {"a file cut inside a key keeps its events",
     R"({"traceEvents":[)" + kA + R"(],"trace)",
     {"a"},
     {{Note::kTruncated, 1, 60}}},
    {"what is no key behind the events costs none of them",
     R"({"traceEvents":[)" + kA + R"(],5})",
     {"a"},
     {{Note::kUnreadableMetadata, 1, 54}}},
    {"a bracket too many does not end the list",
     "[" + kA + "],\n" + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 37}}},
    {"nor do two",
     R"({"traceEvents":[)" + kA + "]}, " + kB + R"(],"traceName":"n"})",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 52}}},
    {"a member without its object costs one entry, also in a file of one line",
     "[" + kA + R"(, "ph":"X","name":"c","ts":9,"args":{"k":[1]}}, )" + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 39}}},
    {"so do those behind a bracket too many",
     "[" + kA + R"(,{"ph":"X","name":"c","ts":9,"dur":1},"args":{"k":[1]}},)" + kB + "]",
     {"a", "b", "c"},
     {{Note::kUnreadableEvent, 1, 75}}},
    {"a name that ends in a backslash does not swallow the next event",
     R"([{"ph":"X","name":"C:\","ts":9},)" + kA + "," + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 1}}},
    {"nor does a key that misses its second quote",
     R"([{"ph":"X","name":"c","ts":9,"args:{}},)" + kA + "," + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 1}}},
    {"nor one without a colon",
     R"([{"ph":"X","name":"c","ts":9,"s""e"},)" + kA + "," + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 1}}},
    {"nor a value that misses its first quote",
     R"([{"ph":"X","name":"c","ts":9,"s":e"},)" + kA + "," + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 1}}},
    {"of an event that is cut in its middle nothing goes to the next",
     R"([{"ph":"X","name":"c","cat":"aten, )" + kA + "," + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 1}}},
    {"a second document is missed, and said to be",
     R"({"traceEvents":[)" + kA + R"(]} {"traceEvents":[)" + kB + "]}",
     {"a"},
     {{Note::kMoreBehind, 1, 55}}},
    {"words behind the end are not missed",
     R"({"traceEvents":[)" + kA + "]}\nDone.\n",
     {"a"},
     {{Note::kWordsBehind, 1, 55}}},
    {"a bracket too many does not swallow the events behind it",
     "[" + kA + ",\n[" + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 39}}},
    {"nor does it where the list has keys behind it",
     R"({"traceEvents":[)" + kA + ",[ " + kB + R"(],"traceName":"n"})",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 53}}},
    {"also where more than one is too many",
     R"({"traceEvents":[[)" + kA + ",[ " + kB + R"(],"traceName":"n"})",
     {"a", "b"},
     {{Note::kUnreadableEvent, 2, 16}}},
    {"words before another document do not hide it",
     R"({"traceEvents":[)" + kA + "]}\nDone.\n[" + kB + "]",
     {"a"},
     {{Note::kMoreBehind, 1, 55}}},
    {"lists in the list are entries that are no events, however long",
     "[[1,2],[],[{\"x\":1}],[{\"ph\":\"X\",\"ts\":1}" + kMuchSpace + "],\"text\"," + kA + "," + kB +
         ",[{\"ph\":\"X\",\"ts\":1}]]",
     {"a", "b"},
     {{Note::kNotAnObject, 6, 1}}},
    {"an event that misses its end does not swallow the next",
     R"([{"ph":"X","name":"c","ts":9,"args":{"stream":7},)" + kA + "},\n" + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 2, 1}, {Note::kMissingComma, 1, 85}}},
    {"nor those before it, where a list in it ends within an object",
     "[\n{\"ph\":\"X\",\"l\":[\n" + kA + ",\n" + kB +
         ",\n{\"ph\":\"X\",\"name\":\"c\",\"ts\":9,\"args\":{\"k\":1}\n],\"m\":2}}\n]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 3, 2}}},
    {"a list of objects that ends an event's arguments does not end the list",
     "[" + kA + R"(,{"ph":"X","name":"c)" + std::string(1, '\0') +
         R"(,"ts":1,"dur":1,"args":{"l":[{"a":1}]}},)" + kB + "]",
     {"a", "b"},
     {{Note::kUnreadableEvent, 1, 38}}},
    {"a second list of events is missed, and said to be",
     R"({"traceEvents":[)" + kA + R"(],"traceEvents":[)" + kB + R"(],"traceName":"n"})",
     {"a"},
     {{Note::kMoreBehind, 1, 68}}},
    {"what follows a second list that is broken is read wherever blocks end",
     R"({"traceEvents":[)" + kA + "],\"traceEvents\":[}" + kB + "],\n\"traceName\":\"n\"}",
     {"a"},
     {{Note::kUnreadableMetadata, 1, 68}}},
    {"a value that a colon follows is a string with quotes in it",
     R"([{"ph":"X","name":"c","ts":9,"dur":1,"args":{"kind":"Wa":0,"z":"it","stream":2}},)" + kA +
         "]",
     {"a", "c"},
     {{Note::kUnescapedQuote, 4, 1}}},
    {"brackets and commas behind the end say nothing",
     R"({"traceEvents":[)" + kA + "]}]},\n",
     {"a"},
     {}},
};

std::vector<std::string> names_in(const trace::Trace& trace) {
  std::vector<std::string> names;
  names.reserve(trace.size());
  for (trace::Row row = 0; row < trace.size(); ++row) names.emplace_back(trace.name_text(row));
  return names;
}

TEST(Kineto, ReadsDamagedTextAsFarAsItGoes) {
  for (const DamagedText& c : kDamagedTexts) {
    for (const bool reference_reader : {true, false}) {
      for (const std::size_t block_bytes : {std::size_t{1} << 20, std::size_t{64}}) {
        for (const Fetch fetch : kFetches) {
          SCOPED_TRACE(std::string(c.name) + (reference_reader ? ", reference" : ", fast") +
                       ", blocks of " + std::to_string(block_bytes) + ", fetched in way " +
                       std::to_string(static_cast<int>(fetch)));
          const auto trace = trace_of(c.text, reference_reader, block_bytes, 1, fetch);
          ASSERT_TRUE(trace) << trace.error().message;
          EXPECT_THAT(names_in(*trace), ElementsAreArray(c.events));
          EXPECT_THAT(odd_things(trace->log()), ElementsAreArray(c.odd));
        }
      }
    }
  }
}

// What is inside an event looks like events of the threads 7 and 9; wherever it is read so at
// first, nothing of that stays.
TEST(Kineto, TracksAreInTheOrderOfTheFileWhereverBlocksEnd) {
  const auto event = [](int tid, int ts) {
    return R"({"ph":"X","name":"e)" + std::to_string(tid) + R"(","pid":1,"tid":)" +
           std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":1})";
  };
  std::string inner;
  for (int i = 0; i < 6; ++i) inner += event(7, i) + "," + event(9, i) + ",";
  std::string text = "[" + event(1, 0) +
                     R"(,{"ph":"X","name":"holds","pid":1,"tid":1,"ts":2,"dur":1,)" +
                     R"("args":{"list":[)" + inner + "{}]}}";
  for (int i = 0; i < 8; ++i) text += "," + event(5, i) + "," + event(9, i) + "," + event(7, i);
  text += ']';
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (std::size_t block_bytes = 64; block_bytes < 2000; block_bytes += 61) {
      SCOPED_TRACE(std::to_string(threads) + " threads, blocks of " + std::to_string(block_bytes));
      const Fetch fetch = kFetches[block_bytes % kFetches.size()];
      const auto trace = trace_of(text, false, block_bytes, threads, fetch);
      ASSERT_TRUE(trace) << trace.error().message;
      std::vector<std::string> tracks;
      for (const trace::Track& track : trace->tracks()) tracks.push_back(track.thread);
      EXPECT_THAT(tracks, ElementsAre("1", "5", "9", "7"));
      std::vector<std::string_view> texts(5);
      for (base::StringId id = 0; id < texts.size(); ++id) texts[id] = trace->text(id);
      EXPECT_THAT(texts, ElementsAre("e1", "holds", "e5", "e9", "e7"));
    }
  }
}

TEST(Kineto, EventsThatAreNoListAreAnErrorWithItsPlace) {
  for (const char* const value : {"null", "{}", "\"x\""}) {
    const auto trace = trace_of(std::string(R"({"a":1,"traceEvents": )") + value + "}", false, 64);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().message,
              "test.json:22: \"traceEvents\" is not a list; expected [ and events");
  }
  EXPECT_TRUE(trace_of(R"({"traceEvents":null,"traceEvents":[)" + kA + "]}", false, 64));
}

TEST(Kineto, ReadsTheHeaderAlikeWhereverBlocksEnd) {
  const std::string headers[] = {
      R"("broken":[},"traceEvents":[)",                         // the events are looked for
      "\"name\":\"x\"\n\"traceName\":\"y\",\"traceEvents\":[",  // a comma is missing
  };
  for (const std::string& header : headers) {
    for (std::size_t padding = 0; padding < 64; ++padding) {
      SCOPED_TRACE(header + " behind " + std::to_string(padding) + " blanks");
      std::string text = "{";
      text.append(padding, ' ').append(header).append(kA).append("]}");
      const auto whole = trace_of(text, true, std::size_t{1} << 20);
      const auto pieces = trace_of(text, true, 64);
      ASSERT_TRUE(whole) << whole.error().message;
      ASSERT_TRUE(pieces) << pieces.error().message;
      EXPECT_EQ(names_in(*pieces), std::vector<std::string>{"a"});
      EXPECT_EQ(pieces->header().metadata, whole->header().metadata);
      EXPECT_EQ(odd_things(pieces->log()), odd_things(whole->log()));
    }
  }
}

// Wherever a byte after the first member is damaged, the events stand as they are. What seems to
// be the end of the header is none.
TEST(Kineto, OneByteOfTheHeaderCostsNoEvents) {
  const std::string begin = "{\n  \"schemaVersion\": 1";
  const std::string header =
      ",\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"H200\",\n"
      "      \"numSms\": 132\n    },\n    {\n      \"id\": 1\n    }\n  ],\n  \"a\": \"ms\"";
  const std::string list = ",\n  \"traceEvents\": [\n" + kA + "\n]}";
  for (std::size_t at = 0; at < header.size(); ++at) {
    for (const char damage : {'"', '\0', '{', '}', ']', ',', '\\'}) {
      std::string damaged = header;
      damaged[at] = damage;
      SCOPED_TRACE(std::to_string(at) + ": " + damaged);
      const std::string text = fmt::format("{}{}{}", begin, damaged, list);
      const auto whole = trace_of(text, true, std::size_t{1} << 20);
      const auto pieces = trace_of(text, false, 64);
      ASSERT_TRUE(whole) << whole.error().message;
      ASSERT_TRUE(pieces) << pieces.error().message;
      EXPECT_EQ(names_in(*whole), std::vector<std::string>{"a"});
      EXPECT_EQ(names_in(*pieces), std::vector<std::string>{"a"});
      EXPECT_EQ(odd_things(pieces->log()), odd_things(whole->log()));
    }
  }
}

// Each of these took the square of its size: minutes for two megabytes. Nothing is timed here; who
// makes one of them slow again will notice.
TEST(Kineto, TakesNoLongerThanTheTextIsLong) {
  constexpr int kMany = 200000;
  const auto repeated = [](const std::string& piece) {
    std::string text;
    for (int i = 0; i < kMany; ++i) text += piece;
    return text;
  };
  std::string keys;
  for (int i = 0; i < kMany; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  const std::string events = R"("traceEvents":[)" + kA + "]}";
  const std::string texts[] = {
      "[" + kA + ",\n" + repeated("{\"ph\":[\n") + "}]",
      "[" + kA + ",\n" + repeated("{\"ph\":{\"a\":\n") + "]]",
      "[" + kA + ",\n" + repeated("[{\"ph\":1},") + "]",
      "{\"a\":[}\n" + repeated("x\n") + events,
      "{" + keys + events,
  };
  for (const std::string& text : texts) {
    const auto trace = trace_of(text, true, std::size_t{1} << 20);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_THAT(names_in(*trace), ElementsAre("a"));
  }
}

// How many share an id decides how it is looked up, not what is found.
TEST(Kineto, LinksToTheNearestBeforeHoweverManyShareAnId) {
  for (const int count : {5, 100}) {
    std::string text = "[" + event_text("kernel", 7, 1, R"("correlation":3)");
    for (int i = 1; i <= count; ++i) {
      text += event_text("cuda_runtime", i % 2, 10 * i, R"("correlation":3)");
      text += event_text("kernel", 7, 10 * i + 5, R"("correlation":3)");
      text += event_text("cpu_op", i % 2, 10 * i + 2, R"("Sequence number":4)");
      text += event_text("cpu_op", 3, 10 * i + 2, R"("Sequence number":4,"Fwd thread id":1)");
    }
    const auto trace = trace_of(text + kA + "]", false, std::size_t{1} << 20);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto start_us = [&](trace::Row row) { return trace->start()[row] / 1000; };
    trace->device().rows.for_each([&](trace::Row row, std::uint32_t entry) {
      const base::Nanos expected = start_us(row) == 1 ? 10 : start_us(row) - 5;
      EXPECT_EQ(start_us(trace->device().launch[entry]), expected);
    });
    EXPECT_EQ(trace->device().rows.size(), static_cast<std::size_t>(count) + 1);
    trace->backward().rows.for_each([&](trace::Row row, std::uint32_t entry) {
      EXPECT_EQ(start_us(trace->backward().forward[entry]), start_us(row) - 10);
    });
    EXPECT_EQ(trace->backward().rows.size(), static_cast<std::size_t>(count) - 1);
  }
}

// A long event with objects in it that look like events: read by doubling, not once for each block.
TEST(Kineto, AnEventOfManyBlocksIsReadWhole) {
  std::string inner = R"({"a":1})";
  while (inner.size() < 300'000) inner += R"(,{"ph":"X","name":"q"},{"a":1})";
  const std::string text = "[" + kA + R"(,{"ph":"X","name":"holds","ts":2,"dur":1,"args":{"l":[)" +
                           inner + "]}}," + kB + "]";
  for (const Fetch fetch : kFetches) {
    for (const unsigned threads : {1U, 3U}) {
      const auto trace = trace_of(text, false, 1024, threads, fetch);
      ASSERT_TRUE(trace) << trace.error().message;
      EXPECT_THAT(names_in(*trace), testing::UnorderedElementsAre("a", "b", "holds"));
      EXPECT_THAT(odd_things(trace->log()), testing::IsEmpty());
    }
  }
}

// Wherever blocks end, and also where the last of them is empty.
TEST(Kineto, AFileThatEndsInAnEventIsNoted) {
  const std::string whole = "[" + kA + "," + kB;
  const std::string text = whole + R"(,{"ph":"X","name":"c)" + std::string(300, 'c');
  for (const Fetch fetch : kFetches) {
    for (const unsigned threads : {1U, 2U}) {
      for (std::size_t block_bytes = 64; block_bytes < 420; ++block_bytes) {
        SCOPED_TRACE(std::to_string(threads) + " threads, blocks of " +
                     std::to_string(block_bytes));
        const auto trace = trace_of(text, false, block_bytes, threads, fetch);
        ASSERT_TRUE(trace) << trace.error().message;
        EXPECT_THAT(names_in(*trace), ElementsAre("a", "b"));
        EXPECT_THAT(odd_things(trace->log()),
                    testing::Contains(Odd{Note::kTruncated, 1, whole.size() + 1}));
      }
    }
  }
}

// What follows the list may be longer than any event.
TEST(Kineto, LongHeadersBehindTheListAreNoEvents) {
  const std::string value = std::string(std::size_t{40} << 20, 'v');
  const std::string text = R"({"traceEvents":[)" + kA + "," + kB + R"(],"x":")" + value +
                           R"(","y":")" + value + R"(","traceName":"n"})";
  for (const Fetch fetch : {Fetch::kApart, Fetch::kStreamed}) {
    const auto trace = trace_of(text, false, std::size_t{1} << 18, 2, fetch);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_THAT(names_in(*trace), ElementsAre("a", "b"));
  }
}

// A header that never ends is read to the end of the file before the list is found.
TEST(Kineto, KeysBehindTheListAreReadWhereTheTextWasReadBefore) {
  std::string events;
  for (int i = 0; i < 40; ++i) events += event_text("cpu_op", 1, 10 * i, "");
  events += kA;
  const std::string text = R"({"odd":{"a":{"traceEvents":[)" + events + R"(],"more":[)" + events +
                           R"(],"distributedInfo":{"rank":3}})";
  for (const Fetch fetch : kFetches) {
    for (std::size_t block_bytes = 64; block_bytes < 1000; block_bytes += 61) {
      const auto trace = trace_of(text, false, block_bytes, 1, fetch);
      ASSERT_TRUE(trace) << trace.error().message;
      EXPECT_EQ(trace->size(), 41);
      ASSERT_TRUE(trace->header().distributed) << block_bytes;
      EXPECT_EQ(trace->header().distributed->rank, 3);
    }
  }
}

TEST(Kineto, TakesAnyNumberForARank) {
  const auto trace = trace_of(
      R"({"distributedInfo":{"rank":1e300,"pg_config":[{"ranks":[0,1e300,-1e300,2.0,"x"]}]},)"
      R"("traceEvents":[)" +
          kA + "]}",
      true, std::size_t{1} << 20);
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_TRUE(trace->header().distributed);
  EXPECT_FALSE(trace->header().distributed->rank);
  EXPECT_THAT(trace->header().distributed->groups.at(0).ranks, ElementsAre(0, 2));
}

}  // namespace
}  // namespace stepscope::ingest::kineto
