// Charts as SVG and in characters, from small tables.
#include "report/charts/svg_chart.h"

#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/charts/text_chart.h"

namespace stepscope::report {
namespace {

using base::Chart;
using base::Type;
using base::Unit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array kSvgChartColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, ""},
    {"step", Type::kInt, Unit::kId, ""},
    {"busy_ns", Type::kInt, Unit::kNanos, ""},
    {"idle_ns", Type::kInt, Unit::kNanos, ""},
    {"name", Type::kText, Unit::kNone, ""},
});
constexpr std::array<std::string_view, 2> kSvgChartStacked = {"busy_ns", "idle_ns"};
constexpr std::array<std::string_view, 1> kBusy = {"busy_ns"};
constexpr base::Drawing kSteps{Chart::kStack, "step", kSvgChartStacked, "rank"};
constexpr base::Drawing kNames{Chart::kBars, "name", kBusy};
constexpr base::TableShape kSvgChartShape{"steps", "one step", kSvgChartColumns, kSteps};

base::Table steps(int count) {
  base::Table table(kSvgChartShape);
  for (int i = 0; i < count; ++i) {
    table.add({i % 2, i, 1000 * (i + 1), 500, "<k" + std::to_string(i) + " & \"co\">"});
  }
  return table;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Series, OnePerGroupInOrderOfAppearance) {
  const auto all = series_of(steps(4), kSteps, 20);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].group, "rank 0");
  EXPECT_THAT(all[1].labels, ElementsAre("1", "3"));
  EXPECT_THAT(all[1].lines[0].values, ElementsAre(2000, 4000));
  EXPECT_EQ(all[1].lines[1].name, "idle");
  EXPECT_EQ(all[1].largest_sum(), 4500);
}

TEST(Series, NothingForMissingColumns) {
  static constexpr base::Drawing kWrong{Chart::kStack, "nowhere", kSvgChartStacked};
  EXPECT_TRUE(series_of(steps(4), kWrong, 20).empty());
  EXPECT_TRUE(series_of(steps(0), kSteps, 20).empty());
}

TEST(Series, ThinningKeepsSums) {
  const Series all = series_of(steps(100), kSteps, 20)[0];
  const Series few = thinned(all, 7, Together::kSum);
  EXPECT_LE(few.labels.size(), 7U);
  double before = 0;
  double after = 0;
  for (const double value : all.lines[0].values) before += value;
  for (const double value : few.lines[0].values) after += value;
  EXPECT_EQ(before, after);
}

TEST(Ticks, AreRoundAndReachTheLargest) {
  EXPECT_THAT(ticks(0, Unit::kNanos, 4), ElementsAre(0));
  EXPECT_THAT(ticks(95, Unit::kNanos, 4), ElementsAre(0, 50, 100));
  EXPECT_THAT(ticks(3, Unit::kCount, 8), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ticks(3000, Unit::kBytes, 4), ElementsAre(0, 1024, 2048, 3072));
  EXPECT_EQ(tick_text(20'000'000, Unit::kNanos), "20 ms");
  EXPECT_EQ(tick_text(1'500'000, Unit::kNanos), "1.5 ms");
  EXPECT_EQ(tick_text(0.5, Unit::kShare), "50 %");
}

TEST(SvgChart, StackHasAMarkAndATooltipForEveryPart) {
  const std::string svg = svg_chart(series_of(steps(4), kSteps, 20)[0], Chart::kStack);
  EXPECT_EQ(count_of(svg, "<rect"), 4U);
  EXPECT_EQ(count_of(svg, "<title>"), 4U);
  EXPECT_THAT(svg, HasSubstr("step 2: busy 3.00 µs (85.7 %)"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"busy, idle by step, rank 0\""));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

TEST(SvgChart, EscapesNames) {
  const std::string svg = svg_chart(series_of(steps(2), kNames, 30)[0], Chart::kBars);
  EXPECT_THAT(svg, HasSubstr("&lt;k0 &amp; &quot;co&quot;&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<k0")));
}

TEST(SvgChart, ManyPlacesStayFewMarks) {
  const std::string svg = svg_chart(series_of(steps(20'000), kSteps, 20)[0], Chart::kStack);
  EXPECT_LT(count_of(svg, "<rect"), 400U);
  EXPECT_THAT(svg, HasSubstr("step 0 to "));
}

TEST(SvgChart, LinesBreakAtNulls) {
  Series series{.x_title = "time",
                .labels = {"0", "1", "2", "3"},
                .full = {"0", "1", "2", "3"},
                .x = {0, 1, 2, 3},
                .lines = {{.name = "queue", .values = {1, NAN, 2, 4}}}};
  const std::string svg = svg_chart(series, Chart::kLine);
  EXPECT_THAT(svg, HasSubstr("d=\"M74 "));
  EXPECT_EQ(count_of(svg.substr(svg.find("class=\"l0\"")), "M"), 2U);
}

TEST(SvgChart, NothingToDrawIsEmpty) {
  EXPECT_EQ(svg_chart(Series{}, Chart::kStack), "");
  EXPECT_EQ(svg_chart(series_of(steps(2), kSteps, 20)[0], Chart::kTree), "");
}

TEST(StackLine, AddsUpToTheWidth) {
  const Look look;
  EXPECT_EQ(stack_line(std::array{1.0, 1.0}, 8, look), "████····");
  EXPECT_EQ(stack_line(std::array{1.0, 0.0, 99.0}, 10, look), "█·········");
  EXPECT_EQ(stack_line(std::array{1.0, 1.0, 1.0}, 10, look), "████▓▓▓···");
  EXPECT_EQ(stack_line(std::array{0.0, 0.0}, 10, look), "");
}

TEST(Sparkline, StandsOnZero) {
  EXPECT_EQ(sparkline(std::array{0.0, 4.0, 8.0}), "▁▄█");
  EXPECT_EQ(sparkline(std::array{0.0, 0.0}), "▁▁");
  EXPECT_EQ(sparkline(std::array{1.0, std::numeric_limits<double>::quiet_NaN()}), "█ ");
}

}  // namespace
}  // namespace stepscope::report
