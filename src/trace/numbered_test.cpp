#include "trace/numbered.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::trace {
namespace {

using testing::ElementsAre;

TEST(Numbered, EqualTextsHaveOneNumberInOrderOfAppearance) {
  Numbered<std::string> texts;
  EXPECT_TRUE(texts.place("b").is_new);
  EXPECT_EQ(texts.place("").number, 1);
  EXPECT_EQ(texts.place("a").number, 2);
  const auto again = texts.place("b");
  EXPECT_EQ(again.number, 0);
  EXPECT_FALSE(again.is_new);
  EXPECT_THAT(texts.take(), ElementsAre("b", "", "a"));
  EXPECT_EQ(texts.place("a").number, 0);
}

TEST(Numbered, ManyAsAMapWouldNumberThem) {
  Numbered<std::array<std::uint32_t, 2>> pairs;
  Numbered<std::string> texts;
  std::map<std::array<std::uint32_t, 2>, std::uint32_t> expected;
  std::uint32_t random = 1;
  for (int i = 0; i < 50'000; ++i) {
    random = random * 1'664'525 + 1'013'904'223;
    const std::array<std::uint32_t, 2> pair = {random >> 24, (random >> 16) & 0x7f};
    const auto [found, is_new] =
        expected.try_emplace(pair, static_cast<std::uint32_t>(expected.size()));
    const auto place = pairs.place(pair);
    ASSERT_EQ(place.number, found->second);
    ASSERT_EQ(place.is_new, is_new);
    ASSERT_EQ(texts.place(std::to_string(pair[0]) + "," + std::to_string(pair[1])).number,
              found->second);
  }
  EXPECT_EQ(pairs.take().size(), expected.size());
  EXPECT_GT(expected.size(), 20'000U);
}

}  // namespace
}  // namespace stepscope::trace
