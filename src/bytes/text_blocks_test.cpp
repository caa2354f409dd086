#include "bytes/text_blocks.h"

#include <gtest/gtest.h>

#include "bytes/files_for_tests.h"

namespace stepscope::bytes {
namespace {

using std::string;

string text_at(TextReader& reader, std::uint64_t offset, std::size_t size) {
  string text(size, '\0');
  const auto got = reader.read_at(offset, text);
  EXPECT_TRUE(got) << got.error().message;
  text.resize(got ? *got : 0);
  return text;
}

TEST(TextBlocks, GivesBackWhatWasAppendedInBlocksOfAnySize) {
  const string text = synthetic_text(2'000'000);
  auto random = random_from(3);
  for (const std::size_t largest : Sizes{50, 5'000, 65'536, 900'000}) {
    TextBlocks blocks;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % largest, text.size() - at);
      ASSERT_TRUE(blocks.append(at, std::span(text).subspan(at, size)));
      at += size;
    }
    EXPECT_EQ(blocks.text_end(), text.size());
    for (int round = 0; round < 500; ++round) {
      const std::size_t at = random() % (text.size() + 100);
      const std::size_t size = random() % (round % 10 == 0 ? 300'000 : 300);
      ASSERT_TRUE(text_at(blocks, at, size) == text.substr(std::min(at, text.size()), size));
    }
    EXPECT_TRUE(text_at(blocks, 0, text.size() + 1) == text);
  }
}

TEST(TextBlocks, TakesAFractionOfTheText) {
  const string text = synthetic_text(10'000'000);
  TextBlocks blocks;
  ASSERT_TRUE(blocks.append(0, text));
  EXPECT_LT(blocks.memory_bytes(), text.size() / 3);
}

TEST(TextBlocks, TextMayBeLeftOut) {
  const string text = synthetic_text(300'000);
  TextBlocks blocks;
  ASSERT_TRUE(blocks.append(1'000, std::span(text).subspan(1'000, 100'000)));
  ASSERT_TRUE(blocks.append(200'000, std::span(text).subspan(200'000, 10)));
  EXPECT_TRUE(text_at(blocks, 1'000, 100'000) == text.substr(1'000, 100'000));
  EXPECT_EQ(text_at(blocks, 100'900, 1'000), text.substr(100'900, 100));  // short at the gap
  EXPECT_EQ(text_at(blocks, 200'000, 100), text.substr(200'000, 10));
  char c = 0;
  for (const std::uint64_t left_out : Sizes{0, 999, 101'000, 199'999}) {
    const auto got = blocks.read_at(left_out, {&c, 1});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, base::Code::kNotFound);
    EXPECT_EQ(got.error().message, "text at offset " + std::to_string(left_out) + " was not kept");
  }
}

TEST(TextBlocks, OffsetsMustAscend) {
  TextBlocks blocks;
  ASSERT_TRUE(blocks.append(0, string(100, 'x')));
  const auto again = blocks.append(99, string(1, 'y'));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "text at offset 99 comes after text that ends at 100");
  EXPECT_EQ(text_at(blocks, 100, 1), "");
}

TEST(TextBlocks, EmptyHoldsNothing) {
  TextBlocks blocks;
  EXPECT_EQ(text_at(blocks, 0, 10), "");
  ASSERT_TRUE(blocks.append(0, {}));
  EXPECT_EQ(blocks.text_end(), 0U);
}

}  // namespace
}  // namespace stepscope::bytes
