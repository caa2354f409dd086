#include "analysis/arithmetic/number_map.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

TEST(NumberMap, GivesEveryKeyItsFirstNumber) {
  NumberMap map;
  EXPECT_TRUE(map.try_emplace(7, 1).is_new);
  EXPECT_FALSE(map.try_emplace(7, 2).is_new);
  EXPECT_EQ(map.try_emplace(7, 3).number, 1U);
  EXPECT_EQ(map.size(), 1U);
}

TEST(NumberMap, KnowsNoKeyThatIsNotAllowed) {
  NumberMap map;
  for (const std::uint64_t key : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    EXPECT_TRUE(map.try_emplace(key, 0xffffffff).is_new);
    EXPECT_EQ(map.try_emplace(key, 5).number, 0xffffffffU);
  }
}

TEST(NumberMap, NumbersCanBeChanged) {
  NumberMap map;
  map.try_emplace(3, 1).number = 9;
  EXPECT_EQ(map.try_emplace(3, 0).number, 9U);
}

// Keys as they come: small ones, addresses, pairs of numbers, and those that share their low bits.
TEST(NumberMap, AgreesWithAMapOfTheLibrary) {
  std::mt19937_64 random(1);
  for (const int shift : {0, 9, 32, 48}) {
    NumberMap map;
    std::map<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      const std::uint64_t key = (random() % 5'000) << shift;
      const auto found = map.try_emplace(key, i);
      const auto [entry, is_new] = expected.try_emplace(key, i);
      ASSERT_EQ(found.is_new, is_new);
      ASSERT_EQ(found.number, entry->second);
    }
    EXPECT_EQ(map.size(), expected.size());
  }
}

}  // namespace
}  // namespace stepscope::analysis
