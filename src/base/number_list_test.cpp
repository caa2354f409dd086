#include "base/number_list.h"

#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(NumberList, ReadsNumbersAndRanges) {
  EXPECT_THAT(parse_number_list("3"), Optional(ElementsAre(3)));
  EXPECT_THAT(parse_number_list("0,3,8-10"), Optional(ElementsAre(0, 3, 8, 9, 10)));
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(parse_number_list("9223372036854775807"), Optional(ElementsAre(kLast)));
  EXPECT_THAT(parse_number_list("9223372036854775806-9223372036854775807"),
              Optional(ElementsAre(kLast - 1, kLast)));
}

TEST(NumberList, RefusesWhatIsNoList) {
  for (const char* text : {"", ",", "1,", ",1", "1-", "-1", "3-1", "a", "1 2", "1,,2", "1-2-3",
                           "99999999999999999999", "0-9223372036854775807", "1;2"}) {
    EXPECT_EQ(parse_number_list(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace stepscope::base
