#include "base/number_text.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

TEST(NumberText, IsTheWholeText) {
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("0.25"), 0.25);
  for (const char* text : {"", " 1", "1 ", "+1", "1s", "0x10", "one", "-"}) {
    EXPECT_EQ(parse_number<std::int64_t>(text), std::nullopt) << text;
  }
}

TEST(NumberText, FitsItsType) {
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace stepscope::base
