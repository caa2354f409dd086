#include "trace/step_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::trace {
namespace {

bool matches(const std::string& text, std::string_view name) {
  const base::Result<StepPattern> pattern = StepPattern::parse(text);
  EXPECT_TRUE(pattern) << text;
  return pattern && pattern->matches(name);
}

TEST(StepPattern, MatchesAnywhereInAName) {
  EXPECT_TRUE(matches("train", "my train 7"));
  EXPECT_TRUE(matches("^train \\d+$", "train 7"));
  EXPECT_FALSE(matches("^train \\d+$", "train 7b"));
  EXPECT_TRUE(matches("(train|val)_step", "val_step"));
  EXPECT_TRUE(matches("^[0-9]{1,3}\\{900\\}", "12{900}"));
}

TEST(StepPattern, OfNothingIsNone) {
  const base::Result<StepPattern> none = StepPattern::parse("");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->is_given());
  EXPECT_FALSE(none->matches("anything"));
}

TEST(StepPattern, SaysWhatIsWrongWithItsText) {
  for (const char* text : {"(", "a)", "a{2,1}", "[z-a]", "(a)\\1", "*a", "(?i)step"}) {
    const base::Result<StepPattern> pattern = StepPattern::parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code, base::Code::kInvalidArgument);
    EXPECT_NE(pattern.error().message.find("is not a regular expression: "), std::string::npos);
  }
}

TEST(StepPattern, IsNotTooLarge) {
  for (const std::string& text :
       {std::string("(.?){3000}Q"), std::string("(a{30}){20}"), std::string("a{99999999999999999}"),
        std::string("(a?a?a?a?a?a?a?a?){100}Q"), std::string(2000, '('), std::string(600, 'a')}) {
    const base::Result<StepPattern> pattern = StepPattern::parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_NE(pattern.error().message.find("is too large"), std::string::npos);
  }
  for (const char* text :
       {"^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}", "step_\\d{1,6}_\\d{1,6}_\\d{1,3}",
        "[a-z]{1,64}_[0-9]{1,2}", "x{100}|y{2}", "step[{]2024[}]", "((a{3}){4}){5}"}) {
    EXPECT_TRUE(StepPattern::parse(text)) << text;
  }
}

// A matcher that tries every way would not come back from the first, and would have no stack left
// for the second.
TEST(StepPattern, IsDoneSoonWithAnyName) {
  EXPECT_FALSE(matches("^(a*)*b$", std::string(250, 'a')));
  EXPECT_FALSE(matches("(a|b)*c", std::string(1'000'000, 'a')));
  EXPECT_TRUE(matches("(a|b)*c", std::string(250, 'a') + "c"));
}

}  // namespace
}  // namespace stepscope::trace
