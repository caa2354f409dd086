#include "base/table.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

constexpr std::array kColumns = std::to_array<ColumnShape>({
    {"rank", Type::kInt, Unit::kId},
    {"share", Type::kReal, Unit::kShare},
    {"good", Type::kBool},
    {"name", Type::kText},
    {"steps", Type::kIntList},
});
constexpr TableShape kShape{"table", "a row", kColumns};

Table three_rows() {
  const std::array<std::int64_t, 2> list = {3, 4};
  Table table(kShape);
  table.add({7, 0.5, true, "gemm", std::span<const std::int64_t>(list)});
  table.add({Null{}, Null{}, Null{}, Null{}, Null{}});
  table.add({-1, 2, false, std::string("gemm"), std::span<const std::int64_t>()});
  return table;
}

TEST(Table, GivesBackWhatWasPutIn) {
  const Table table = three_rows();
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.width(), 5U);
  EXPECT_EQ(table.int_at(0, 0), 7);
  EXPECT_EQ(table.int_at(0, 2), -1);
  EXPECT_EQ(table.real_at(1, 0), 0.5);
  EXPECT_EQ(table.int_at(2, 0), 1);
  EXPECT_EQ(table.text_at(3, 0), "gemm");
  ASSERT_EQ(table.list_at(4, 0).size(), 2U);
  EXPECT_EQ(table.list_at(4, 0)[1], 4);
  EXPECT_TRUE(table.list_at(4, 2).empty());
}

TEST(Table, TakesWholeNumbersForReals) {
  const Table table = three_rows();
  EXPECT_EQ(table.real_at(1, 2), 2.0);
  EXPECT_EQ(table.real_at(0, 0), 7.0);
}

TEST(Table, KnowsWhatIsNull) {
  const Table table = three_rows();
  for (std::size_t c = 0; c < table.width(); ++c) {
    EXPECT_FALSE(table.is_null(c, 0));
    EXPECT_TRUE(table.is_null(c, 1));
  }
  EXPECT_FALSE(table.is_null(4, 2));  // an empty list is a value
}

TEST(Table, HasNoRealsThatAreNotFinite) {
  Table table(kShape);
  for (const double value :
       {0.0 / std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    table.add({0, value, true, "", std::span<const std::int64_t>()});
  }
  EXPECT_FALSE(table.is_null(1, 0));
  EXPECT_TRUE(table.is_null(1, 1));
  EXPECT_TRUE(table.is_null(1, 2));
}

TEST(Table, SaysWhichRowDoesNotFitItsColumns) {
  Table table = three_rows();
  EXPECT_TRUE(table.fault().empty());
  table.add({1, 0.5, true, "gemm"});
  EXPECT_EQ(table.fault(), "row 3 has 4 values for 5 columns");
  Table other(kShape);
  other.add({"seven", 0.5, true, "gemm", Null{}});
  other.add({1, "half", true, "gemm", Null{}});
  EXPECT_EQ(other.fault(), "row 0 has a value of another type in column 'rank'");
  EXPECT_TRUE(other.is_null(0, 0));
}

TEST(Table, KeepsEqualTextsOnce) {
  const Table table = three_rows();
  const auto& words = std::get<Words>(table.values(3));
  EXPECT_EQ(words.words, (std::vector<std::string>{"gemm", ""}));
  EXPECT_EQ(words.codes, (std::vector<std::uint32_t>{0, 1, 0}));
}

TEST(Table, CellsOfOptionalsAreNullWithoutAValue) {
  Table table(kShape);
  table.add({std::optional<std::int64_t>(5), std::optional<double>(), std::optional<bool>(true),
             std::optional<std::string_view>("a"), Null{}});
  EXPECT_EQ(table.int_at(0, 0), 5);
  EXPECT_TRUE(table.is_null(1, 0));
  EXPECT_EQ(table.int_at(2, 0), 1);
  EXPECT_EQ(table.text_at(3, 0), "a");
}

TEST(Table, SelectsRowsInAnyOrderWithTheirNulls) {
  const std::array<std::size_t, 3> order = {2, 1, 2};
  const Table table = three_rows().select(order);
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.int_at(0, 0), -1);
  EXPECT_TRUE(table.is_null(3, 1));
  EXPECT_EQ(table.text_at(3, 2), "gemm");
  EXPECT_TRUE(table.list_at(4, 0).empty());
}

TEST(Table, FindsColumnsByName) {
  const Table table(kShape);
  EXPECT_EQ(table.find("name"), 3U);
  EXPECT_EQ(table.find("names"), std::nullopt);
}

}  // namespace
}  // namespace stepscope::base
