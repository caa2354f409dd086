// Tables as text and Markdown, their cells and heads.
#include <array>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/tables/cell_text.h"
#include "report/tables/shown_columns.h"
#include "report/tables/tables.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using base::Null;
using base::Type;
using base::Unit;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array kTableTextColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank"},
    {"name", Type::kText, Unit::kNone, "of the kernel; null: all the others"},
    {"count", Type::kInt, Unit::kCount, "how often"},
    {"exposed_time_ns", Type::kInt, Unit::kNanos, "how long"},
    {"share", Type::kReal, Unit::kShare, "of all"},
});
constexpr base::TableShape kTableTextShape{"kernels", "one name", kTableTextColumns};

base::Table kernels() {
  base::Table table(kTableTextShape);
  table.add({0, "gemm", 1234, 5'000'000, 0.5});
  table.add({0, "relu", 7, 1'500, 0.25});
  table.add({0, Null{}, Null{}, 0, 0.25});
  return table;
}

TEST(TableText, LaysOutByUnit) {
  EXPECT_EQ(table_text(kernels(), {}),
            "  rank 0\n"
            "                           exposed\n"
            "  name              count     time   share\n"
            "  gemm              1,234  5.00 ms  50.0 %\n"
            "  relu                  7  1.50 µs  25.0 %\n"
            "  (all the others)      –     0 ns  25.0 %\n");
}

TEST(TableText, InstantsOfAnOldClockCountFromTheFirst) {
  static constexpr std::array kTimes = std::to_array<base::ColumnShape>({
      {"step", Type::kInt, Unit::kId, "its number"},
      {"start_ns", Type::kInt, Unit::kInstant, "when it began"},
  });
  static constexpr base::TableShape kSteps{"steps", "a step", kTimes};
  constexpr std::int64_t kWeeks = 44 * 86'400 * std::int64_t{1'000'000'000};
  base::Table old(kSteps), young(kSteps);
  for (const int step : {1, 2}) {
    old.add({step, kWeeks + step * 1'000'000});
    young.add({step, step * 1'000'000});
  }
  EXPECT_EQ(
      table_text(old, {}),
      "  step    start\n     1     0 ns\n     2  1.00 ms\n"
      "  instants count from the first in this table (44.0 d on the recording's own clock, as -f "
      "json)\n");
  EXPECT_EQ(table_text(young, {}), "  step    start\n     1  1.00 ms\n     2  2.00 ms\n");
}

TEST(TableText, DrawsBars) {
  EXPECT_THAT(table_text(kernels(), {.look = {.width = 80}, .bars = true}),
              HasSubstr("50.0 %  ████\n"));
}

TEST(TableText, SentencesAreBrokenNotCut) {
  static constexpr std::array kSaid = std::to_array<base::ColumnShape>({
      {"source", Type::kText, Unit::kNone, "what could not see it"},
      {"missing", Type::kText, Unit::kNone, "what is not known, and why"},
  });
  static constexpr base::TableShape kMissing{"missing", "something", kSaid};
  base::Table table(kMissing);
  table.add({"rapl", "The energy is not known: its counters may not be read."});
  table.add({"nvml", "No GPU."});
  EXPECT_EQ(table_text(table, {.look = {.width = 48}}),
            "  source  missing\n"
            "  rapl    The energy is not known: its counters\n"
            "          may not be read.\n"
            "  nvml    No GPU.\n");
}

TEST(TableText, LeavesOutColumnsThatDoNotFit) {
  const std::string text = table_text(kernels(), {.look = {.width = 36}});
  EXPECT_THAT(text, HasSubstr("… 1 more column (--width 0)\n"));
  EXPECT_THAT(text, Not(HasSubstr("25.0 %")));
  const std::string quiet = table_text(kernels(), {.look = {.width = 36}, .names_left_out = false});
  EXPECT_THAT(quiet, Not(HasSubstr("column")));
}

TEST(TableText, SaysHowManyRowsAreLeftOut) {
  TableTextOptions options;
  options.rows = 2;
  EXPECT_THAT(table_text(kernels(), options), HasSubstr("… 1 more row"));
}

TEST(TableText, OneRowIsAList) {
  static constexpr std::array kWide = std::to_array<base::ColumnShape>({
      {"rank", Type::kInt, Unit::kId, "its rank"},
      {"a_ns", Type::kInt, Unit::kNanos, "length of a"},
      {"b_bytes", Type::kInt, Unit::kBytes, ""},
      {"c", Type::kReal, Unit::kNone, ""},
      {"d", Type::kBool, Unit::kNone, ""},
      {"e", Type::kIntList, Unit::kId, ""},
  });
  static constexpr base::TableShape kOne{"one", "the run", kWide};
  base::Table table(kOne);
  const std::array<std::int64_t, 5> ranks = {0, 1, 2, 3, 7};
  table.add({3, 1000, 2048, 1.5, true, std::span<const std::int64_t>(ranks)});
  EXPECT_EQ(table_text(table, {}),
            "  rank         3  its rank\n"
            "  a      1.00 µs  length of a\n"
            "  b     2.00 KiB\n"
            "  c         1.50\n"
            "  d          yes\n"
            "  e       0–3, 7\n");
}

TEST(TableText, EveryWidthIsKept) {
  base::Table table(kTableTextShape);
  for (int i = 0; i < 5; ++i) {
    table.add({i,
               "void at::native::vectorized_elementwise_kernel<4, functor_" + std::to_string(i) +
                   "<float> >(int)",
               i, i, 0.1 * i});
  }
  for (std::size_t width = 40; width < 130; ++width) {
    const std::string text = table_text(table, {.look = {.width = width}, .bars = true});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(text_width(std::string_view(text).substr(at, end - at)), width) << text;
      at = end + 1;
    }
  }
}

TEST(ColumnTitle, NoTwoColumnsOfATableHaveTheSame) {
  std::size_t tables = 0;
  for (const analysis::Analysis* about : analysis::analyses()) {
    for (const base::TableShape& table : about->tables) {
      std::set<std::string> titles;
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        EXPECT_TRUE(titles.insert(column_title(table, c)).second)
            << about->name << " " << table.name << " " << column_title(table, c);
      }
      ++tables;
    }
  }
  EXPECT_GT(tables, 100U);
}

TEST(ColumnTitle, NamesItsUnitWhereAnotherHasTheSame) {
  static constexpr std::array kBoth = std::to_array<base::ColumnShape>({
      {"late", Type::kInt, Unit::kCount},
      {"late_ns", Type::kInt, Unit::kNanos},
      {"moved_bytes", Type::kInt, Unit::kBytes},
      {"moved_bytes_per_second", Type::kReal, Unit::kBytesPerSecond},
      {"idle_ns", Type::kInt, Unit::kNanos},
  });
  static constexpr base::TableShape kShape{"both", "one", kBoth};
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < kBoth.size(); ++c) titles.push_back(column_title(kShape, c));
  EXPECT_THAT(titles, testing::ElementsAre("late", "late time", "moved bytes",
                                           "moved bytes per second", "idle"));
}

TEST(CellText, SharesNeverClaimAllOrNothing) {
  EXPECT_EQ(share_text(0.9996), ">99.9 %");
  EXPECT_EQ(share_text(1), "100 %");
  EXPECT_EQ(share_text(0.0004), "<0.1 %");
  EXPECT_EQ(share_text(0), "0 %");
}

TEST(CellText, NumbersHaveThreeDigits) {
  EXPECT_EQ(number_text(1.234), "1.23");
  EXPECT_EQ(number_text(12345.6), "12,346");
  EXPECT_EQ(number_text(0.00123), "0.0012");
  EXPECT_EQ(number_text(-56.78), "-56.8");
}

TEST(TableOrder, NullsComeLastEitherWay) {
  const base::Table table = kernels();
  const std::size_t count = *table.find("count");
  EXPECT_EQ(sorted_by(table, count, false).text_at(1, 0), "relu");
  EXPECT_EQ(sorted_by(table, count, true).text_at(1, 0), "gemm");
  EXPECT_TRUE(sorted_by(table, count, false).is_null(count, 2));
  EXPECT_TRUE(sorted_by(table, count, true).is_null(count, 2));
}

TEST(TableOrder, TheOthersStayLast) {
  const base::Table table = kernels();
  const base::Table sorted = sorted_by(table, *table.find("share"), false);
  EXPECT_EQ(sorted.text_at(1, 0), "relu");
  EXPECT_TRUE(sorted.is_null(1, 2));
}

TEST(TableMd, EscapesWhatMarkdownReads) {
  base::Table table(kTableTextShape);
  table.add({0, "a|b<c>_d*", 1, 1, 0.5});
  EXPECT_THAT(table_md(table), HasSubstr("| a\\|b&lt;c>\\_d\\* | 1 | 1 ns | 50.0 % |"));
}

TEST(BarText, CountsEighths) {
  EXPECT_EQ(bar_text(0, 8), "");
  EXPECT_EQ(bar_text(0.0001, 8), "▏");
  EXPECT_EQ(bar_text(0.5, 8), "████");
  EXPECT_EQ(bar_text(2, 2), "██");
}

}  // namespace
}  // namespace stepscope::report
