// Areas in characters and as SVG.
#include <array>
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/charts/svg_parts.h"
#include "report/charts/text_chart.h"

namespace stepscope::report {
namespace {

using base::Chart;
using base::Null;
using base::Type;
using base::Unit;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<base::ColumnShape, 5> kTextAreaColumns = {{
    {"event", Type::kInt, Unit::kId, ""},
    {"step", Type::kInt, Unit::kId, ""},
    {"pass", Type::kText, Unit::kNone, ""},
    {"old_bytes", Type::kInt, Unit::kBytes, ""},
    {"new_bytes", Type::kInt, Unit::kBytes, ""},
}};
constexpr std::array<std::string_view, 2> kTextAreaStacked = {"old_bytes", "new_bytes"};
constexpr base::Drawing kCurve{.chart = Chart::kStack,
                               .x = "event",
                               .y = kTextAreaStacked,
                               .marks = "step",
                               .bands = "pass",
                               .level = "old_bytes"};
constexpr base::TableShape kTextAreaShape{"curve", "a moment", kTextAreaColumns, kCurve};

Series curve() {
  base::Table table(kTextAreaShape);
  for (int i = 0; i < 40; ++i) {
    table.add({i, 7 + i / 20, i % 20 < 10 ? "forward" : "backward", 1024,
               i == 25       ? 3072
               : i % 20 < 10 ? 1024
                             : 0});
  }
  return series_of(table, kCurve, 20)[0];
}

TEST(AreaText, HasThePeakTheFloorPassesAndSteps) {
  const std::string text = area_text(curve(), {.colour = false, .width = 60});
  EXPECT_THAT(text, HasSubstr("4.00 KiB ┤"));
  EXPECT_THAT(text, HasSubstr("floor 1.00 KiB ┤"));
  EXPECT_THAT(text, HasSubstr("pass ff"));
  EXPECT_THAT(text, HasSubstr("step │7"));
  EXPECT_THAT(text, HasSubstr("│8"));
  EXPECT_THAT(text, HasSubstr("f forward, b backward; at the highest, event 25 of 39:"));
  EXPECT_THAT(text, HasSubstr("█ old 1.00 KiB   · new 3.00 KiB"));
}

TEST(AreaText, HoldsALevelWhileNothingHappens) {
  Series series = curve();
  series.x_unit = Unit::kInstant;
  // All of the first step in the first tenth of the time.
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    series.x[i] = i < 20 ? static_cast<double>(i) : 200 + static_cast<double>(i);
  }
  const std::string text = area_text(series, {.colour = false, .width = 60});
  const std::size_t row = text.find("step │7");
  ASSERT_NE(row, std::string::npos);
  // Columns, not places: the second step begins near the end.
  const std::string_view steps = std::string_view(text).substr(row, text.find('\n', row) - row);
  EXPECT_THAT(steps, testing::EndsWith("│8"));
}

TEST(AreaText, KeepsAPeakOfOneMomentHoweverNarrow) {
  const std::string text = area_text(curve(), {.colour = false, .width = 10});
  EXPECT_THAT(text, HasSubstr("4.00 KiB"));
}

TEST(SvgArea, DrawsPartsMarksBandsAndTheLevel) {
  const std::string svg = svg_area(curve());
  EXPECT_THAT(svg, HasSubstr("<path class=\"s0\""));
  EXPECT_THAT(svg, HasSubstr("step 7"));
  EXPECT_THAT(svg, HasSubstr("floor 1.00 KiB"));
  EXPECT_THAT(svg, HasSubstr("<title>backward</title>"));
  EXPECT_THAT(svg, HasSubstr("event 25, step 8, forward: 4.00 KiB\nold 1.00 KiB\nnew 3.00 KiB"));
}

// The left and right ends of what the pointer finds the places by.
std::vector<std::pair<double, double>> tips_of(const std::string& svg) {
  std::vector<std::pair<double, double>> ends;
  constexpr std::string_view kTip = "class=\"tip\" x=\"";
  for (std::size_t at = svg.find(kTip); at != std::string::npos; at = svg.find(kTip, at + 1)) {
    const double left = std::stod(svg.substr(at + kTip.size()));
    const double width = std::stod(svg.substr(svg.find("width=\"", at) + 7));
    ends.emplace_back(left, left + width);
  }
  return ends;
}

TEST(SvgArea, OverTimeItEndsWithTheHistory) {
  Series series = curve();
  const auto counted = tips_of(svg_area(series));
  EXPECT_LT(counted.back().first, counted.back().second);  // an event has a width
  series.x_unit = Unit::kInstant;
  const auto timed = tips_of(svg_area(series));
  ASSERT_EQ(timed.size(), series.x.size());
  EXPECT_EQ(timed.back().first, timed.back().second);
  EXPECT_EQ(timed.back().second, counted.back().second);  // all of the width is history
}

TEST(SvgArea, TheFloorBeginsWhereItHolds) {
  Series series = curve();
  series.level_from = 20;
  const std::string svg = svg_area(series);
  constexpr std::string_view kLine = "class=\"level\" d=\"M";
  const std::size_t at = svg.find(kLine);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(std::stod(svg.substr(at + kLine.size())), tips_of(svg)[20].first);
}

TEST(SvgArea, APartThatNobodyTellsHidesNoOther) {
  Series series = curve();
  series.lines[0].values.assign(series.lines[0].values.size(), std::nan(""));
  const std::string svg = svg_area(series);
  EXPECT_THAT(svg, HasSubstr("<path class=\"s1\""));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Series, PartsOfALongTable) {
  static constexpr std::array<base::ColumnShape, 3> kLong = {{
      {"event", Type::kInt, Unit::kId, ""},
      {"where", Type::kText, Unit::kNone, ""},
      {"bytes", Type::kInt, Unit::kBytes, ""},
  }};
  static constexpr std::array<std::string_view, 1> kBytes = {"bytes"};
  static constexpr base::Drawing kParts{
      .chart = Chart::kStack, .x = "event", .y = kBytes, .parts = "where"};
  static constexpr base::TableShape kTable{"parts", "a part", kLong, kParts};
  base::Table table(kTable);
  table.add({5, "a", 1});
  table.add({9, "a", 2});
  table.add({5, Null{}, 10});
  table.add({9, "b", 3});
  table.add({9, "a", 4});  // two places of the same name are one part
  const Series series = series_of(table, kParts, 20)[0];
  ASSERT_EQ(series.lines.size(), 3U);
  EXPECT_THAT(series.x, ElementsAre(5, 9));
  EXPECT_THAT(series.lines[0].values, ElementsAre(1, 6));
  EXPECT_THAT(series.lines[1].values, ElementsAre(0, 3));
  EXPECT_EQ(series.lines[2].name, "other");
  EXPECT_THAT(series.lines[2].values, ElementsAre(10, 0));
}

}  // namespace
}  // namespace stepscope::report
