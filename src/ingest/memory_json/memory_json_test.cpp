#include "ingest/memory_json/memory_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::ingest::memory_json {
namespace {

using base::Note;
using testing::ElementsAre;
using testing::HasSubstr;

base::Result<memory::Timeline> timeline_of(const std::string& text) {
  return read_timeline(bytes::memory_source("t.json", text), {});
}

TEST(MemoryJson, ReadsTheCurve) {
  const auto timeline =
      timeline_of("[[3, 7.5], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 0, 0, 0, 0, 0, 9]]]");
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->points.size(), 2u);
  EXPECT_EQ(timeline->points[0].time, 3000);
  EXPECT_THAT(timeline->points[0].alive, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(timeline->points[1].alive, ElementsAre(0, 0, 0, 0, 0, 0, 0, 9));
}

TEST(MemoryJson, SumsRawChanges) {
  const auto timeline = timeline_of(
      "[[-1, 1, 100, 7], [-1, 1, 50, 0], [2000, 2, 8, 4], [3000, 3, 8, 4], [3000, 4, -100, 99]]");
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->points.size(), 2u);
  EXPECT_EQ(timeline->points[0].time, 2000);
  EXPECT_THAT(timeline->points[0].alive, ElementsAre(50, 0, 0, 0, 8, 0, 0, 100));
  EXPECT_THAT(timeline->points[1].alive, ElementsAre(50, 0, 0, 0, 16, 0, 0, 0));
}

TEST(MemoryJson, SaysWhatIsWrongWithATimeline) {
  EXPECT_THAT(timeline_of("[[1, 2], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]]").error().message,
              HasSubstr("2 times for 1 rows"));
  for (const char* text : {"[[1, 2], [[1, 2]]]", "[[\"a\"]]", "[[1", "[[1,2,3,4,5],[[{}]]]",
                           "[[1,2,3,4],[5,6,7,8,9]]", "[[[[1]]]]"}) {
    EXPECT_FALSE(timeline_of(text)) << text;
  }
  const auto cut = timeline_of("[[5, 1, 100, 0], [6, 1, 7, 0], [7, 1");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->points.size(), 2u);
  EXPECT_EQ(cut->log.count(Note::kTruncated), 1u);
}

TEST(MemoryJson, FlattensStatistics) {
  const auto stats = read_stats(
      bytes::memory_source("s.json",
                           R"({"active_bytes": {"all": {"current": 5, "peak": 7.0}}, "num_ooms": 2,
                               "name": "x", "a.b": 3})"),
      {});
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->find("active_bytes.all.peak"), 7);
  EXPECT_EQ(stats->find("num_ooms"), 2);
  EXPECT_EQ(stats->find("a.b"), 3);
  EXPECT_EQ(stats->find("name"), std::nullopt);
}

TEST(MemoryJson, IsToldFromTraces) {
  EXPECT_GT(sniff_timeline("[[1, 2"), 10);
  EXPECT_GT(sniff_timeline(" [\n [-1"), 10);
  EXPECT_GT(sniff_timeline("[[], []]"), 10);
  EXPECT_EQ(sniff_timeline("[[\n]]"), 0);
  EXPECT_EQ(sniff_timeline("[{\"ph\""), 0);
  EXPECT_GT(sniff_stats(R"({"allocated_bytes.all.current": 1)"), 10);
  EXPECT_EQ(sniff_stats(R"({"traceEvents": [], "active_bytes.x")"), 0);
  EXPECT_EQ(sniff_stats(R"({"schemaVersion": 1)"), 0);
}

}  // namespace
}  // namespace stepscope::ingest::memory_json
