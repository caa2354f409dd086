// Raw JSON copied as it is and redacted.
#include "emit/json/json_copier.h"

#include <gtest/gtest.h>

namespace stepscope::emit {
namespace {

struct JsonCopierCase {
  std::string_view what, given, expected;
};

std::string copied(std::string_view text, std::string_view key = "x") {
  std::string out;
  JsonCopier copier(out, nullptr);
  const std::size_t end = copier.copy(text, 0, key);
  return end == JsonCopier::kBeyondRepair ? "beyond repair" : out;
}

TEST(JsonCopier, CopiesValidJsonAsItStands) {
  const std::string_view texts[] = {
      "1",
      "-0.5e+10",
      "\"a \\\" \\u00e9 \\ud83d\\ude00 \\/\"",
      "true",
      "null",
      "[ ]",
      "{ }",
      "[1, [2, {\"a\" : [ ]}],\n  \"x\"]",
      "{\"a\": {\"b\" :null}, \"c\":[true,false]}",
      "\"\xC3\xA9\"",
  };
  for (const std::string_view text : texts) {
    std::string out;
    JsonCopier copier(out, nullptr);
    EXPECT_EQ(copier.copy(text, 0, "x"), text.size()) << text;
    EXPECT_EQ(out, text);
    EXPECT_FALSE(copier.repaired()) << text;
  }
}

TEST(JsonCopier, MendsWhatIsNotJson) {
  const JsonCopierCase cases[] = {
      {"bare words are strings", "{\"a\": N/A, \"b\":NaN}", "{\"a\": \"N/A\", \"b\":\"NaN\"}"},
      {"minus infinity too", "[-Infinity]", "[\"-Infinity\"]"},
      {"a bare word is no name of a collective", "{\"Collective name\": N/A}",
       "{\"Collective name\": null}"},
      {"a bare word that a reader would take for a number", "[0x1F, +3, .5]", "[null, null, null]"},
      {"numbers that are not JSON's", "[007, 1., -05.e3]", "[7, 1.0, -5.0e3]"},
      {"trailing commas", "{\"a\":[1,2,],}", "{\"a\":[1,2]}"},
      {"double and leading commas", "[,1,,2]", "[1,2]"},
      {"commas before the first member", "{,,\"a\":1}", "{\"a\":1}"},
      {"missing commas", "{\"a\":1 \"b\":[1 2]}", "{\"a\":1 ,\"b\":[1 ,2]}"},
      {"a key without a value", "{\"a\":,\"b\":}", "{\"a\":null,\"b\":null}"},
      {"words that are of nothing", "{\"a\":46, 47, 48, \"b\":1, 5}", "{\"a\":46, \"b\":1}"},
      {"strings that are of nothing", "{\"a\":1,\"2g\",\"b\":[1],\"c\"}", "{\"a\":1,\"b\":[1]}"},
      {"what operators are called with is kept as it stands",
       "{\"Input Strides\": [[1o, 1]], \"x\": [1o]}",
       "{\"Input Strides\": [[\"1o\", 1]], \"x\": [null]}"},
      {"a word in place of that says nothing", "{\"Concrete Inputs\": N/A, \"Input Dims\": 1abc}",
       "{\"Concrete Inputs\": null, \"Input Dims\": null}"},
      {"a word in it does", "{\"Concrete Inputs\": [N/A, {\"a\": None}]}",
       "{\"Concrete Inputs\": [\"N/A\", {\"a\": \"None\"}]}"},
      {"a key without quotes", "{a:1}", "{\"a\":1}"},
      {"unescaped quotes", "{\"a\":\"say \"x\" now\",\"b\":1}",
       "{\"a\":\"say \\\"x\\\" now\",\"b\":1}"},
      {"escapes that escape nothing", R"(["C:\dir\x", "\u12"])", R"(["C:\\dir\\x", "\\u12"])"},
      {"half a surrogate pair", R"(["\ud83d", "\ude00x"])", R"(["\ufffd", "\ufffdx"])"},
      {"control bytes", "[\"a\nb\x01\"]", "[\"a\\nb\\u0001\"]"},
      {"broken UTF-8", "[\"a\xFF\xE4\xB8\"]", "[\"a\xEF\xBF\xBD\xEF\xBF\xBD\"]"},
  };
  for (const JsonCopierCase& c : cases) {
    EXPECT_EQ(copied(c.given), c.expected) << c.what;
    EXPECT_EQ(copied(copied(c.given)), c.expected) << c.what << ": mended once and for all";
  }
}

TEST(JsonCopier, GivesUpWhereNothingCanBeMeant) {
  for (const std::string_view text :
       {"", "}", "]", ",", "[1", "{\"a\":1", "[1}", "{\"a\" 1}", "[1:2]", "{]", "[\"a\":1]", "@"}) {
    EXPECT_EQ(copied(text), "beyond repair") << text;
  }
  EXPECT_EQ(copied(std::string(100'000, '[')), "beyond repair") << "nesting is bounded";
}

TEST(JsonCopier, StopsBehindTheValue) {
  std::string out;
  JsonCopier copier(out, nullptr);
  EXPECT_EQ(copier.copy("  {\"a\":1} , 2", 0, "x"), 9U);
  EXPECT_EQ(out, "{\"a\":1}");
}

// Any bytes give a copy that needs no more mending, or nothing: no crash, no hang.
TEST(JsonCopier, EveryCutAndEveryDamagedByteEnds) {
  const std::string text = "{\"a\": [1, \"x\\u00e9\", N/A], \"b\":{\"c\":\"d\"e\"},}";
  for (std::size_t at = 0; at < text.size(); ++at) {
    (void)copied(text.substr(0, at));
    for (const char c : {'"', '\\', '{', '}', '[', ']', ',', ':', '\n', '\xFF', '0'}) {
      std::string damaged = text;
      damaged[at] = c;
      const std::string once = copied(damaged);
      if (once == "beyond repair") continue;
      EXPECT_EQ(copied(once), once) << damaged;
    }
  }
}

}  // namespace
}  // namespace stepscope::emit
