// Parsing of flags, variables and words, and the errors about them.
#include "cli/options/arguments.h"

#include <array>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::cli {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 2> kColours = {"always", "never"};
constexpr std::array kOptions = std::to_array<Option>({
    {.name = "json"},
    {.name = "output", .letter = 'o', .value = "FILE"},
    {.name = "color", .value = "WHEN", .choices = kColours},
});
constexpr std::array kGeneral = std::to_array<Option>({
    {.name = "jobs", .letter = 'j', .value = "N"},
    {.name = "quiet", .letter = 'q'},
    {.name = "max-memory", .value = "SIZE"},
});

base::Result<Arguments> parsed_arguments(const Words& words,
                                         std::map<std::string, std::string> variables = {},
                                         ParseOptions options = {}) {
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  return parse(words, kOptions, kGeneral, environment, options);
}

TEST(Arguments, TakesOptionsInEverySpelling) {
  for (const Words& words : {Words{"--jobs", "4"},
                             {"--jobs=4"},
                             {"-j", "4"},
                             {"-j4"},
                             {"-j=4"},
                             {"-qj4"},
                             {"a", "-j", "4"}}) {
    const auto arguments = parsed_arguments(words);
    ASSERT_TRUE(arguments) << words.front();
    EXPECT_EQ(arguments->text("jobs"), "4") << words.front();
  }
}

TEST(Arguments, LeavesWordsInOrder) {
  const auto arguments = parsed_arguments({"a", "--json", "-", "b", "--", "--json", "-x"});
  ASSERT_TRUE(arguments);
  EXPECT_THAT(arguments->words(), ElementsAre("a", "-", "b", "--json", "-x"));
  EXPECT_TRUE(arguments->has_option("json"));
  EXPECT_FALSE(arguments->has_option("quiet"));
}

TEST(Arguments, StopsAtTheCommandWhenAsked) {
  const auto arguments =
      parsed_arguments({"-j", "2", "info", "--json"}, {}, {.stop_at_word = true});
  ASSERT_TRUE(arguments);
  EXPECT_THAT(arguments->words(), ElementsAre("info", "--json"));
  EXPECT_FALSE(arguments->has_option("json"));
}

TEST(Arguments, FlagsWinOverVariables) {
  const auto from_variable =
      parsed_arguments({}, {{"STEPSCOPE_MAX_MEMORY", "8G"}, {"STEPSCOPE_JSON", "1"}});
  ASSERT_TRUE(from_variable);
  EXPECT_EQ(from_variable->text("max-memory"), "8G");
  EXPECT_EQ(from_variable->origin("max-memory"), "STEPSCOPE_MAX_MEMORY");
  EXPECT_TRUE(from_variable->has_option("json"));
  const auto from_flag = parsed_arguments(
      {"--max-memory=1G", "--json=no"}, {{"STEPSCOPE_MAX_MEMORY", "8G"}, {"STEPSCOPE_JSON", "1"}});
  ASSERT_TRUE(from_flag);
  EXPECT_EQ(from_flag->text("max-memory"), "1G");
  EXPECT_EQ(from_flag->origin("max-memory"), "--max-memory");
  EXPECT_FALSE(from_flag->has_option("json"));
}

TEST(Arguments, VariablesMaySayNoOrNothing) {
  for (const char* value : {"", "0", "no", "false", "off"}) {
    const auto arguments = parsed_arguments({}, {{"STEPSCOPE_JSON", value}});
    ASSERT_TRUE(arguments);
    EXPECT_FALSE(arguments->has_option("json")) << value;
  }
}

TEST(Arguments, TheLastFlagCounts) {
  const auto arguments = parsed_arguments({"-j1", "-j2"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->text("jobs"), "2");
}

struct ErrorCase {
  Words words;
  std::map<std::string, std::string> variables;
  std::string message;
};

const ErrorCase kErrors[] = {
    {{"--jsno"}, {}, "unknown option '--jsno'; did you mean '--json'?"},
    {{"--ouput=x"}, {}, "unknown option '--ouput'; did you mean '--output'?"},
    {{"--max"}, {}, "unknown option '--max'; did you mean '--max-memory'?"},
    {{"--frobnicate"}, {}, "unknown option '--frobnicate'"},
    {{"-x"}, {}, "unknown option '-x'"},
    {{"-qx"}, {}, "unknown option '-x'"},
    {{"--output"}, {}, "--output needs a value (FILE)"},
    {{"-o"}, {}, "-o needs a value (FILE)"},
    {{"--json=maybe"}, {}, "--json: 'maybe' is not yes or no"},
    {{}, {{"STEPSCOPE_JSON", "2"}}, "STEPSCOPE_JSON: '2' is not yes or no"},
    {{"--color", "blue"}, {}, "--color: 'blue' is not always or never"},
    {{}, {{"STEPSCOPE_COLOR", "blue"}}, "STEPSCOPE_COLOR: 'blue' is not always or never"},
};

TEST(Arguments, ErrorsNameTheWordAndTheRightOne) {
  for (const ErrorCase& c : kErrors) {
    SCOPED_TRACE(c.message);
    const auto arguments = parsed_arguments(c.words, c.variables);
    ASSERT_FALSE(arguments);
    EXPECT_EQ(arguments.error().code, base::Code::kInvalidArgument);
    EXPECT_EQ(arguments.error().message, c.message);
  }
}

}  // namespace
}  // namespace stepscope::cli
