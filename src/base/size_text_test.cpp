#include "base/size_text.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

TEST(SizeText, UnitsAreKnownInAnyCase) {
  const std::pair<std::string_view, Bytes> cases[] = {
      {"1000", 1000},
      {"1k", 1024},
      {"8G", Bytes{8} << 30},
      {"8GiB", Bytes{8} << 30},
      {"8gib", Bytes{8} << 30},
      {"8 gb", 8'000'000'000},
      {"512  MiB", Bytes{512} << 20},
      {"1.5M", 1'572'864},
      {"2T", Bytes{2} << 40},
      {"1e3", 1000},
      {"9007199254740993", 9'007'199'254'740'993},  // a double holds no odd number of this size
  };
  for (const auto& [text, bytes] : cases) {
    ASSERT_TRUE(parse_size(text)) << text;
    EXPECT_EQ(*parse_size(text), bytes) << text;
  }
}

TEST(SizeText, WhatIsNoSizeIsRefused) {
  for (const std::string_view text : {"", "G", "-1", "0", "8X", "80x", "50%", "nan", "inf", "1e400",
                                      "8G8", "0.1", "1e30", "9999999999999999999", "9000000T"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(SizeText, ABareNumberOfAFewBytesHasLostItsUnit) {
  EXPECT_EQ(unit_forgotten("80"), "80GiB");
  EXPECT_EQ(unit_forgotten("1.5"), "1.5GiB");
  for (const std::string_view text : {"80GiB", "1048576", "80k", "80 B", "x", ""}) {
    EXPECT_EQ(unit_forgotten(text), "") << text;
  }
}

}  // namespace
}  // namespace stepscope::base
