#include "base/row_set.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/int_column.h"
#include "base/strings.h"

namespace stepscope::base {
namespace {

TEST(RowSet, RanksItsMembers) {
  RowSet rows(1000);
  const std::set<std::uint32_t> members = {0, 1, 63, 64, 65, 127, 128, 500, 999};
  for (const std::uint32_t row : members) rows.add(row);
  rows.seal();
  EXPECT_EQ(rows.size(), members.size());
  std::uint32_t entry = 0;
  for (std::uint32_t row = 0; row < 1000; ++row) {
    EXPECT_EQ(rows.find(row), members.contains(row) ? entry++ : RowSet::kNone);
  }
  EXPECT_FALSE(rows.contains(5000));
  std::uint32_t visited = 0;
  rows.for_each([&](std::uint32_t row, std::uint32_t at) {
    EXPECT_TRUE(members.contains(row));
    EXPECT_EQ(at, visited++);
  });
  EXPECT_EQ(visited, members.size());
}

TEST(IntColumn, IsWideOnlyWhenItMustBe) {
  IntRange small;
  small.include(-5);
  small.include(1 << 30);
  IntRange large = small;
  large.include(std::int64_t{1} << 40);
  IntColumn narrow(10, small);
  IntColumn wide(10, large);
  EXPECT_LT(narrow.memory(), wide.memory());
  narrow.set(3, -5);
  wide.set(3, std::int64_t{1} << 40);
  EXPECT_EQ(narrow[3], -5);
  EXPECT_EQ(wide[3], std::int64_t{1} << 40);
}

TEST(StringPool, GivesEqualTextsOneIdInOrderOfFirstAppearance) {
  StringPool pool;
  std::string text;
  for (int round = 0; round < 2; ++round) {
    text.clear();
    for (std::uint32_t i = 0; i < 3000; ++i) {
      // Every length, and pairs that differ in one byte anywhere.
      text = std::string(i % 70, 'a') + std::to_string(i);
      EXPECT_EQ(pool.intern(text, i), i);
    }
  }
  EXPECT_EQ(pool.intern("", 9), 3000U);
  EXPECT_EQ(pool.intern("", 10), 3000U);
  EXPECT_EQ(pool.entries()[3000].first_seen, 9U);
}

}  // namespace
}  // namespace stepscope::base
