// Objects, lists, numbers and strings in JSON.
#include "report/writing/json_writer.h"

#include <cstdint>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "base/json_string.h"

namespace stepscope::report {
namespace {

TEST(JsonWriter, EscapesAndRepairs) {
  const std::pair<std::string, std::string> cases[] = {
      {"", R"("")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\n\r\t", R"("\n\r\t")"},
      {std::string("\0\x1f\x7f", 3), R"("\u0000\u001f\u007f")"},
      {"日本 µ 🚀", "\"日本 µ 🚀\""},
      {"cut \xe6\x97", "\"cut \xef\xbf\xbd\xef\xbf\xbd\""},
  };
  for (const auto& [text, json] : cases) EXPECT_EQ(base::json_string(text), json);
}

TEST(JsonWriter, NestsWithCommasAndIndents) {
  JsonWriter json;
  json.begin_object();
  json.member("a", 1);
  json.key("b");
  json.begin_list();
  json.value(true);
  json.value("x");
  json.begin_object();
  json.end_object();
  json.end_list();
  json.key("c");
  json.null();
  json.end_object();
  EXPECT_EQ(std::move(json).finish(), R"({
  "a": 1,
  "b": [
    true,
    "x",
    {}
  ],
  "c": null
}
)");
}

template <class T>
std::string written(T value) {
  JsonWriter json;
  json.value(value);
  return std::move(json).finish();
}

TEST(JsonWriter, KeepsNumbersExact) {
  EXPECT_EQ(written(std::int64_t{-5}), "-5\n");
  EXPECT_EQ(written((std::int64_t{1} << 53) - 1), "9007199254740991\n");
  EXPECT_EQ(written(std::int64_t{1} << 53), "\"9007199254740992\"\n");
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "\"18446744073709551615\"\n");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "\"-9223372036854775808\"\n");
  EXPECT_EQ(written(0.1), "0.1\n");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null\n");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), "null\n");
}

}  // namespace
}  // namespace stepscope::report
