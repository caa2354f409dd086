// The hash table against the one of the library: keys of all kinds, removal, hashes that collide.
#include "base/number_map.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::base {
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

TEST(NumberMap, ForgetsWhatIsErasedAndNothingElse) {
  std::mt19937_64 random(2);
  for (const int shift : {0, 9, 48}) {
    NumberMap map;
    std::map<std::uint64_t, std::uint32_t> expected;
    EXPECT_EQ(map.find(1), NumberMap::kNone);
    map.erase(1);
    for (std::uint32_t i = 0; i < 50'000; ++i) {
      const std::uint64_t key = (random() % 300) << shift;
      if (random() % 2 == 0) {
        map.set(key, i);
        expected[key] = i;
      } else {
        map.erase(key);
        expected.erase(key);
      }
      const std::uint64_t asked = (random() % 300) << shift;
      const auto entry = expected.find(asked);
      ASSERT_EQ(map.find(asked), entry == expected.end() ? NumberMap::kNone : entry->second);
      ASSERT_EQ(map.size(), expected.size());
    }
  }
}

// All with the same hash.
TEST(NumberMap, TellsThingsWithOneHashApart) {
  NumberMap map;
  std::vector<std::string> texts;
  const auto number_of = [&](const std::string& text) {
    const auto found = map.try_emplace(7, static_cast<std::uint32_t>(texts.size()),
                                       [&](std::uint32_t id) { return texts[id] == text; });
    if (found.is_new) texts.push_back(text);
    return found.number;
  };
  for (int turn = 0; turn < 2; ++turn) {
    for (std::uint32_t i = 0; i < 200; ++i) EXPECT_EQ(number_of(std::to_string(i)), i);
  }
}

}  // namespace
}  // namespace stepscope::base
