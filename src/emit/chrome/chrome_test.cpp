// Chrome's format: what is written, read back, is the same trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit/emit.h"
#include "emit/trace_for_tests.h"

namespace stepscope::emit {
namespace {

using testing::ElementsAre;
using trace::RawPhase;

struct Chrome {
  std::string text;
  Written written;

  // The events, one a line.
  std::vector<std::string> events() const {
    std::vector<std::string> lines;
    std::size_t at = text.find("[\n") + 2;
    while (at < text.size() && text[at] != ']') {
      const std::size_t end = text.find('\n', at);
      std::string line = text.substr(at, end - at);
      if (line.ends_with(',')) line.pop_back();
      lines.push_back(line);
      at = end + 1;
    }
    return lines;
  }
};

Chrome chrome_of(const trace::Trace& trace) {
  Chrome chrome;
  const auto written = write_chrome(trace, [&](std::string_view piece) -> base::Status {
    chrome.text += piece;
    return base::Done{};
  });
  EXPECT_TRUE(written.has_value());
  chrome.written = *written;
  return chrome;
}

TEST(Chrome, KeepsAllOfAnEventsTextButItsTimes) {
  TraceForTests trace;
  trace.event({.start = 1500,
               .duration = 2000,
               .text = R"({"ph": "X", "ts": "1.5", "dur": 2e0, "pid": 1, "tid": 1, "name": "f",
                 "cname": "good", "args": {"a": [1, 2],  "b": {}}})"});
  const Chrome chrome = chrome_of(trace.build());
  EXPECT_THAT(chrome.events(),
              ElementsAre(R"({"ph":"X","ts":1.500,"dur":2.000,"pid":1,"tid":1,"name":"f",)"
                          R"("cname":"good","args":{"a": [1, 2],  "b": {}}})"));
  EXPECT_EQ(chrome.written.without_text, 0U);
}

TEST(Chrome, NamesThatWereMendedComeFromTheColumns) {
  TraceForTests trace;
  trace.event({.category = "cpu_op",
               .name = "a \"b\" c",
               .text = R"({"ph":"X","cat":"cpu_op","name":"a "b" c","pid":1,"tid":1,"ts":0,})"});
  EXPECT_THAT(chrome_of(trace.build()).events(),
              ElementsAre(R"({"ph":"X","cat":"cpu_op","name":"a \"b\" c","pid":1,"tid":1,)"
                          R"("ts":0.000,"dur":0.000})"));
}

TEST(Chrome, EventsWithoutTextAreMadeFromColumns) {
  TraceForTests trace;
  const auto op =
      trace.event({.category = "cpu_op", .name = "aten::mm", .start = -1, .duration = 5});
  trace.shard().ops.push_back({op, 0, 7, std::int64_t{1} << 60});
  trace.event(
      {.pid = "Spans", .tid = "x", .category = "", .name = "i", .phase = RawPhase::kInstant});
  const Chrome chrome = chrome_of(trace.build());
  EXPECT_THAT(
      chrome.events(),
      ElementsAre(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":-0.001,)"
                  R"("dur":0.005,"args":{"External id":7,"Sequence number":1152921504606846976,)"
                  R"("Fwd thread id":0}})",
                  R"({"ph":"i","cat":"","name":"i","pid":"Spans","tid":"x","ts":0.000,"s":"t"})"));
  EXPECT_EQ(chrome.written.without_text, 2U);
}

TEST(Chrome, BadDurationsStayBad) {
  TraceForTests trace;
  trace.event({.flags = trace::kBadDuration, .text = R"({"ph":"X","ts":0,"dur":-7})"});
  trace.event({.flags = trace::kBadDuration, .text = R"({"ph":"B","ts":0})"});
  EXPECT_THAT(
      chrome_of(trace.build()).events(),
      ElementsAre(R"({"ph":"X","ts":0.000,"dur":-7})", R"({"ph":"X","ts":0.000,"dur":-0.001})"));
}

TEST(Chrome, PairsAreJoinedAndWhatIsOpenStaysOpen) {
  TraceForTests trace;
  trace.event(
      {.start = 1000, .phase = RawPhase::kBegin, .text = R"({"ph":"B","ts":1,"args":{"x":1}})"});
  trace.event({.start = 2000, .phase = RawPhase::kEnd});
  trace.event({.start = 3000, .phase = RawPhase::kBegin, .text = R"({"ph":"B","ts":3})"});
  EXPECT_THAT(chrome_of(trace.build()).events(),
              ElementsAre(R"({"ph":"X","ts":1.000,"args":{"x":1},"dur":1.000})",
                          R"({"ph":"M","name":"stepscope_gap"})", R"({"ph":"B","ts":3.000})"));
}

TEST(Chrome, AsynchronousSpansArePairsWithTheirId) {
  TraceForTests trace;
  const std::string_view begin =
      R"({"ph":"b","cat":"c","id":"0x7","scope":"s","pid":1,"tid":1,"ts":1})";
  trace.event({.start = 1000, .phase = RawPhase::kAsyncBegin, .text = begin, .async_key = "k"});
  trace.event({.start = 2000, .phase = RawPhase::kAsyncEnd, .async_key = "k"});
  trace.event({.start = 3000, .phase = RawPhase::kAsyncBegin, .text = begin, .async_key = "k"});
  EXPECT_THAT(
      chrome_of(trace.build()).events(),
      ElementsAre(R"({"ph":"b","cat":"c","id":"0x7","scope":"s","pid":1,"tid":1,"ts":1.000})",
                  R"({"ph":"e","cat":"c","pid":1,"tid":1,"id":"0x7","scope":"s","ts":2.000})",
                  R"({"ph":"b","cat":"c","id":"0x7","scope":"s","pid":1,"tid":1,"ts":3.000})"));
}

TEST(Chrome, LabelsStandWhereTheOriginalHadThem) {
  using What = trace::LabelRow::What;
  TraceForTests trace;
  trace.label("5", "0", What::kProcessName, "python");
  trace.event({.pid = "1", .tid = "1", .text = R"({"ph":"X","pid":1,"tid":1,"ts":0,"dur":0})"});
  trace.label("1", "1", What::kThreadSort, "", -3);
  trace.gap();
  trace.flow('f', 9, 2000, "stream \"7\"");
  trace.label("Spans", "x", What::kThreadName, "the \"spans\"");
  EXPECT_THAT(
      chrome_of(trace.build()).events(),
      ElementsAre(
          R"({"ph":"M","name":"process_name","pid":5,"tid":0,"args":{"name":"python"}})",
          R"({"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":0.000})",
          R"({"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":-3}})",
          R"({"ph":"M","name":"stepscope_gap"})",
          R"({"ph":"f","id":9,"pid":1,"tid":"stream \"7\"","ts":2.000,"cat":"ac2g","name":"ac2g","bp":"e"})",
          R"({"ph":"M","name":"thread_name","pid":"Spans","tid":"x","args":{"name":"the \"spans\""}})"));
}

TEST(Chrome, WhatJsonHasNoNumberForStaysText) {
  struct Case {
    std::string_view given, written;
  };
  for (const Case& of : {Case{"007", R"("007")"}, Case{"00", R"("00")"}, Case{"-01", R"("-01")"},
                         Case{"7", "7"}, Case{"0", "0"}, Case{"-1", "-1"}}) {
    TraceForTests trace;
    trace.label(of.given, of.given, trace::LabelRow::What::kThreadName, "T");
    trace.event({.pid = of.given, .tid = of.given});
    for (const std::string& event : chrome_of(trace.build()).events()) {
      EXPECT_THAT(event, testing::HasSubstr("\"pid\":" + std::string(of.written) +
                                            ",\"tid\":" + std::string(of.written)));
    }
  }
}

TEST(Chrome, ALabelThatNamesATrackGoesBeforeOneThatOnlySaysMore) {
  using What = trace::LabelRow::What;
  TraceForTests trace;
  trace.event({.pid = "1", .tid = "1", .text = R"({"ph":"X","pid":1,"tid":1,"ts":0,"dur":0})"});
  trace.label("8", "0", What::kProcessName, "eight");
  trace.event({.pid = "9", .tid = "0", .text = R"({"ph":"X","pid":9,"tid":0,"ts":0,"dur":0})"});
  trace.label("1", "1", What::kThreadName, "one");
  EXPECT_THAT(
      chrome_of(trace.build()).events(),
      ElementsAre(R"({"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":0.000})",
                  R"({"ph":"M","name":"process_name","pid":8,"tid":0,"args":{"name":"eight"}})",
                  R"({"ph":"X","pid":9,"tid":0,"ts":0.000,"dur":0.000})",
                  R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"one"}})"));
}

TEST(Chrome, HeadersAreKeptInOrderAndMended) {
  TraceForTests trace;
  trace.header.metadata = {{"b", "{\"x\": N/A,}"}, {"a\"", "1"}, {"c", "}{"}};
  EXPECT_EQ(chrome_of(trace.build()).text,
            "{\n\"b\": {\"x\": \"N/A\"},\n\"a\\\"\": 1,\n\"c\": \"}{\",\n\"traceEvents\": [\n]}\n");
  TraceForTests bare;
  bare.header.bare_array = true;
  EXPECT_EQ(chrome_of(bare.build()).text, "[\n]\n");
}

TEST(Chrome, AFullDiskEndsTheExport) {
  TraceForTests trace;
  const std::string text =
      R"({"ph":"X","ts":0,"dur":0,"args":{"a":")" + std::string(10'000, 'x') + "\"}}";
  for (int i = 0; i < 100; ++i) trace.event({.text = text});
  int pieces = 0;
  const auto written = write_chrome(trace.build(), [&](std::string_view) -> base::Status {
    ++pieces;
    return base::fail(base::Code::kIo, "disk full");
  });
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message, "disk full");
  EXPECT_EQ(pieces, 1) << "the sink is not asked again";
}

}  // namespace
}  // namespace stepscope::emit
