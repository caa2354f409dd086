// Columns, heads and wrapped cells on a terminal.
#include "report/writing/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

TextTable events() {
  TextTable table({{"Events"}, {"count", Align::kRight}, {"where", Align::kLeft, Fit::kCutMiddle}});
  table.add({"cpu_op", "12,345", "runs/a/rank0.json"});
  table.add({"日本", "7", ""});
  return table;
}

TEST(TextTable, AlignsByDisplayWidth) {
  EXPECT_EQ(events().render({}),
            "Events     count  where\n"
            "  cpu_op  12,345  runs/a/rank0.json\n"
            "  日本         7\n");
}

TEST(TextTable, CutsWhatMayBeCut) {
  EXPECT_EQ(events().render({.width = 28}),
            "Events     count  where\n"
            "  cpu_op  12,345  run…0.json\n"
            "  日本         7\n");
}

TEST(TextTable, NeverCutsWhatMustStay) {
  TextTable table({{"a"}, {"b"}});
  table.add({"a long cell", "another long cell"});
  EXPECT_EQ(table.render({.width = 10}), "a              b\n  a long cell  another long cell\n");
}

TEST(TextTable, WrapsUnderItsOwnColumn) {
  TextTable table({{"note"}, {"meaning", Align::kLeft, Fit::kWrap}});
  table.add({"cut", "the file ends in the middle"});
  EXPECT_EQ(table.render({.width = 22}),
            "note   meaning\n"
            "  cut  the file ends\n"
            "       in the middle\n");
}

TEST(TextTable, KeepsALongPathOfTheLastColumnWhole) {
  const std::string path = "/opt/environments/training/lib/python3.11/site-packages/libcupti.so";
  TextTable table({{"what"}, {"found", Align::kLeft, Fit::kWrap}});
  table.add({"cupti", "12.8, " + path});
  EXPECT_THAT(table.render({.colour = false, .width = 40}), testing::HasSubstr(path));
}

TEST(TextTable, ColoursOnlyWhenAsked) {
  TextTable table({{""}, {""}});
  table.add({Cell("bad", Style::kBad), "x"});
  EXPECT_EQ(table.render({}), "  bad  x\n");
  EXPECT_EQ(table.render({.colour = true}), "  \x1b[31mbad\x1b[0m  x\n");
}

TEST(TextTable, BreaksAtSpaces) {
  EXPECT_THAT(wrapped("aa bb cc", 5), testing::ElementsAre("aa bb", "cc"));
  EXPECT_THAT(wrapped("aaaaaaaa b", 3), testing::ElementsAre("aaaaaaaa", "b"));
  EXPECT_THAT(wrapped("", 3), testing::ElementsAre(""));
  EXPECT_THAT(wrapped("from 1.20 µs to 13.3 s", 12),
              testing::ElementsAre("from 1.20 µs", "to 13.3 s"));
}

}  // namespace
}  // namespace stepscope::report
