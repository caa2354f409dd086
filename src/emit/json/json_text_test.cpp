// Strings, numbers and times as JSON.
#include "emit/json/json_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace stepscope::emit {
namespace {

template <class Append, class Value>
std::string appended(Append append, Value value) {
  std::string out;
  append(out, value);
  return out;
}

std::string string_of(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

TEST(JsonText, StringsAreEscapedAndAlwaysUtf8) {
  EXPECT_EQ(string_of("plain text of some length"), "\"plain text of some length\"");
  EXPECT_EQ(string_of("q\"b\\ \b\f\n\r\t\x01."), "\"q\\\"b\\\\ \\b\\f\\n\\r\\t\\u0001.\"");
  EXPECT_EQ(string_of("\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80"),
            "\"\xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80\"");
  EXPECT_EQ(string_of("a\x80z"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(string_of("a\xE4\xB8z"), "\"a\xEF\xBF\xBDz\"") << "one mark for one cut character";
  EXPECT_EQ(string_of("\xED\xA0\x80").size(), 2 + 3 * 3U) << "a surrogate is three wrong bytes";
  EXPECT_EQ(string_of("\xC0\xAF").size(), 2 + 2 * 3U) << "overlong";
}

TEST(JsonText, EverySpecialByteIsFoundAtEveryPlace) {
  for (const char special : {'"', '\\', '\x1f', '\n', '\x7f', ' '}) {
    for (std::size_t at = 0; at < 20; ++at) {
      std::string text(20, 'a');
      text[at] = special;
      const std::string out = string_of(text);
      const bool is_plain = special == '\x7f' || special == ' ';
      EXPECT_EQ(out == '"' + text + '"', is_plain) << static_cast<int>(special) << " at " << at;
    }
  }
}

TEST(JsonText, LargeNumbersAreStrings) {
  const auto exact = [](auto value) {
    std::string out;
    append_exact(out, value);
    return out;
  };
  constexpr std::int64_t kLimit = std::int64_t{1} << 53;
  EXPECT_EQ(exact(kLimit - 1), "9007199254740991");
  EXPECT_EQ(exact(kLimit), "\"9007199254740992\"");
  EXPECT_EQ(exact(-kLimit + 1), "-9007199254740991");
  EXPECT_EQ(exact(-kLimit), "\"-9007199254740992\"");
  EXPECT_EQ(exact(std::numeric_limits<std::int64_t>::min()), "\"-9223372036854775808\"");
  EXPECT_EQ(exact(std::numeric_limits<std::uint64_t>::max()), "\"18446744073709551615\"");
}

TEST(JsonText, TimesAreExactMicroseconds) {
  const auto micros = [](base::Nanos time) { return appended(append_micros, time); };
  EXPECT_EQ(micros(0), "0.000");
  EXPECT_EQ(micros(1), "0.001");
  EXPECT_EQ(micros(-1), "-0.001");
  EXPECT_EQ(micros(-1500), "-1.500");
  EXPECT_EQ(micros(1695115378713042123), "1695115378713042.123");
  EXPECT_EQ(micros(std::numeric_limits<base::Nanos>::min()), "-9223372036854775.808");
}

TEST(JsonText, FloatsReadBackAsTheSame) {
  const auto number = [](auto value) {
    std::string out;
    append_float(out, value);
    return out;
  };
  EXPECT_EQ(number(0.1F), "0.1");
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(std::stod(number(1e300)), 1e300);
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "\"Infinity\"");
}

TEST(JsonText, AbsentMembersAreLeftOut) {
  std::string out;
  Members members(out);
  members.id("a", -1);
  members.id("b", 0);
  members.number("c", std::numeric_limits<float>::quiet_NaN());
  members.text("d", "x");
  members.close();
  EXPECT_EQ(out, R"({"b":0,"d":"x"})");
}

}  // namespace
}  // namespace stepscope::emit
