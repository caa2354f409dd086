#include "ingest/kineto/numbers.h"

#include <string>

#include <gtest/gtest.h>

#include "ingest/kineto/fast_numbers.h"

namespace stepscope::ingest::kineto {
namespace {

struct TimeCase {
  const char* text;
  base::Nanos ns;
  bool rounded = false;
};

const TimeCase kTimes[] = {
    {"0", 0},
    {"1", 1000},
    {"1.5", 1500},
    {"0.28", 280},
    {"3843868317717.343", 3843868317717343},
    {"1712195495603257.762", 1712195495603257762},  // 19 digits: a double would lose the last two
    {"-2.001", -2001},
    {"1.5e3", 1500000},
    {"1e-3", 1},
    {"15E-1", 1500},
    {"0.0005", 0, true},  // half to even
    {"0.0015", 2, true},
    {"0.00150001", 2, true},
    {"0.0004", 0, true},
    {"1.0000", 1000},
};

TEST(ParseTime, IsExactToTheNanosecond) {
  for (const TimeCase& c : kTimes) {
    SCOPED_TRACE(c.text);
    const auto time = parse_time(c.text);
    ASSERT_TRUE(time.has_value());
    EXPECT_EQ(time->ns, c.ns);
    EXPECT_EQ(time->rounded, c.rounded);
    EXPECT_FALSE(time->out_of_range);
  }
}

TEST(ParseTime, SaysWhatIsNoNumberAndWhatDoesNotFit) {
  for (const char* text : {"", "-", ".", "abc", "1x", "1e", "0x10", "NaN", "1.2.3"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
  for (const char* text : {"9223372036854775807", "1e300", "4611686018427387.904", "-1e17"}) {
    ASSERT_TRUE(parse_time(text).has_value()) << text;
    EXPECT_TRUE(parse_time(text)->out_of_range) << text;
  }
  EXPECT_FALSE(parse_time("4611686018427387.903")->out_of_range);
}

TEST(FastTime, AgreesWithParseTimeOrSaysNothing) {
  FastTime fast_time;
  for (const TimeCase& c : kTimes) {
    for (const char* after : {",", "}", "\n", " ,"}) {
      const std::string text = c.text + std::string(after) + std::string(16, ' ');
      const FastNumber number = fast_time(text.data());
      if (number.next == nullptr) continue;
      EXPECT_EQ(number.value, c.ns) << text;
    }
  }
  const std::string ordinary = "3843868317717.343, ......................";
  EXPECT_NE(fast_time(ordinary.data()).next, nullptr);
  const std::string word = "12a, ......................";
  EXPECT_EQ(fast_time(word.data()).next, nullptr);
}

TEST(ParseInteger, TakesDecimalHexAndWholeReals) {
  EXPECT_EQ(parse_integer("12"), 12);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("0x1f"), 31);
  EXPECT_EQ(parse_integer("4.0"), 4);
  EXPECT_EQ(parse_integer("4e3"), 4000);
  EXPECT_EQ(parse_integer("10159970886766084423"),
            static_cast<std::int64_t>(10159970886766084423ULL));
  EXPECT_FALSE(parse_integer("4.5").has_value());
  EXPECT_FALSE(parse_integer("stream").has_value());
  EXPECT_FALSE(parse_integer("").has_value());
}

}  // namespace
}  // namespace stepscope::ingest::kineto
