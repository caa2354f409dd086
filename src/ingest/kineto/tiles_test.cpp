// Blocks that are fetched apart are the text, whole and in order, wherever steps fall.
#include "ingest/kineto/tiles.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::ingest::kineto {
namespace {

TextFeed feed_of(const std::string& text, std::size_t block_bytes) {
  return {bytes::memory_source("test.json", text), block_bytes};
}

std::string event(int number, std::size_t long_name = 0) {
  return R"({"ph":"X","name":")" + std::to_string(number) + std::string(long_name, 'n') +
         R"(","ts":1,"dur":2})";
}

std::string list(int count, std::size_t long_name = 0) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + event(i, i == count / 2 ? long_name : 0);
  }
  return text + "]";
}

TEST(Tiles, AreTheWholeTextInOrder) {
  for (const std::size_t long_name : {0U, 700U, 5'000U, 70'000U}) {
    const std::string text = list(60, long_name);
    for (const std::size_t block_bytes : {64U, 100U, 257U, 1000U, 4096U}) {
      SCOPED_TRACE(testing::Message() << long_name << " in blocks of " << block_bytes);
      TextFeed feed = feed_of(text, block_bytes);
      const Tiles tiles(feed);
      std::string joined;
      int last = 0;
      for (std::uint64_t number = 0; number < tiles.count(); ++number) {
        const auto block = tiles.fetch(number, 0);
        ASSERT_TRUE(block) << block.error().message;
        if (block->size == 0) continue;
        EXPECT_EQ(block->text_offset, joined.size());
        EXPECT_EQ(*block->begin(), number == 0 ? '[' : '{');
        joined.append(block->begin(), block->size);
        last += block->ends ? 1 : 0;
        EXPECT_EQ(block->ends, joined.size() == text.size());
      }
      EXPECT_EQ(joined, text);
      EXPECT_EQ(last, 1);
    }
  }
}

// In whatever order they are asked for.
TEST(Tiles, KnowNothingOfEachOther) {
  const std::string text = list(40);
  TextFeed feed = feed_of(text, 128);
  const Tiles tiles(feed);
  std::string joined;
  for (std::uint64_t number = tiles.count(); number-- > 0;) {
    const auto block = tiles.fetch(number, 0);
    ASSERT_TRUE(block) << block.error().message;
    joined.insert(0, block->begin(), block->size);
  }
  EXPECT_EQ(joined, text);
}

TEST(Tiles, BeginWhereTheFeedStands) {
  const std::string text = R"({"a": 1, "traceEvents": )" + list(40) + "}";
  TextFeed feed = feed_of(text, 128);
  std::string header;
  ASSERT_TRUE(feed.append_to(header));
  feed.put_back(header.substr(30));
  const Tiles tiles(feed);
  std::string joined;
  for (std::uint64_t number = 0; number < tiles.count(); ++number) {
    const auto block = tiles.fetch(number, 0);
    ASSERT_TRUE(block) << block.error().message;
    joined.append(block->begin(), block->size);
  }
  EXPECT_EQ(joined, text.substr(30));
}

TEST(Tiles, NothingIsOneBlockThatEnds) {
  TextFeed feed = feed_of("[", 64);
  std::string header;
  ASSERT_TRUE(feed.append_to(header));
  const Tiles tiles(feed);
  ASSERT_EQ(tiles.count(), 1);
  const auto block = tiles.fetch(0, 0);
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(block->size, 0);
  EXPECT_TRUE(block->ends);
}

TEST(Tiles, ABlockInWhichNoEventEndsIsCut) {
  TextFeed feed = feed_of("[" + event(0) + "," + event(1, kLongestEvent + (std::size_t{16} << 20)) +
                              "," + event(2) + "," + event(3) + "]",
                          std::size_t{1} << 18);
  const Tiles tiles(feed);
  const auto block = tiles.fetch(0, 0);
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_TRUE(block->cut);
  EXPECT_GE(block->size, kLongestEvent);
  const auto inside = tiles.fetch(5, 0);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->size, 0);
}

// Where no member is one that events have, or it is far from its brace, any object may be one.
TEST(Tiles, EventsThatBeginUnusuallyAreFoundToo) {
  for (const std::string& begin : {std::string(R"({"zz":1,)"), "{" + std::string(400, ' ')}) {
    std::string text = "[";
    for (int i = 0; i < 200; ++i) text += (i == 0 ? "" : ",") + begin + event(i).substr(1);
    TextFeed feed = feed_of(text + "]", 4096);
    const Tiles tiles(feed);
    for (std::uint64_t number = 1; number < tiles.count(); ++number) {
      const auto block = tiles.fetch(number, 0);
      ASSERT_TRUE(block) << block.error().message;
      EXPECT_GT(block->size, 0) << number;
    }
  }
}

}  // namespace
}  // namespace stepscope::ingest::kineto
