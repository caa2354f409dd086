#include <array>

#include <gtest/gtest.h>

#include "analysis/analysis.h"

namespace stepscope::analysis {
namespace {

constexpr std::array<std::string_view, 2> kChoices = {"steps", "work"};
constexpr std::array kParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20"},
    {"rate", ParameterType::kNumber, "0"},
    {"gap", ParameterType::kDuration, "30us"},
    {"limit", ParameterType::kShare, "20%"},
    {"within", ParameterType::kChoice, "steps", "", kChoices},
    {"memory", ParameterType::kSwitch, "false"},
    {"name", ParameterType::kText},
    {"room", ParameterType::kSize},
});

TEST(Options, HaveTheirDefaults) {
  const auto options = parse_options(kParameters, {});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->count("top"), 20);
  EXPECT_EQ(options->duration("gap"), 30'000);
  EXPECT_DOUBLE_EQ(options->share("limit"), 0.2);
  EXPECT_EQ(options->text("within"), "steps");
  EXPECT_FALSE(options->on("memory"));
  EXPECT_EQ(options->text("name"), "");
  EXPECT_FALSE(options->size("room"));
}

TEST(Options, ReadSizes) {
  const auto options = parse_options(kParameters, {{"room", "80GiB"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->size("room"), base::Bytes{80} << 30);
}

TEST(Options, ReadNumbersWithDecimals) {
  struct Case {
    const char* text;
    double number;
  };
  for (const Case& c : {Case{"0", 0}, {"380", 380}, {"380.5", 380.5}, {"1e-07", 1e-7}}) {
    const auto options = parse_options(kParameters, {{"rate", c.text}});
    ASSERT_TRUE(options) << c.text;
    EXPECT_DOUBLE_EQ(options->number("rate"), c.number) << c.text;
  }
}

TEST(Options, ReadLengthsOfTimeInEveryUnit) {
  struct Case {
    const char* text;
    base::Nanos nanos;
  };
  for (const Case& c : {Case{"0", 0},
                        {"200", 200},
                        {"1 ns", 1},
                        {"1.5us", 1500},
                        {"2µs", 2000},
                        {"3ms", 3'000'000},
                        {"0.25s", 250'000'000},
                        {"1e3us", 1'000'000}}) {
    const auto options = parse_options(kParameters, {{"gap", c.text}});
    ASSERT_TRUE(options) << c.text;
    EXPECT_EQ(options->duration("gap"), c.nanos) << c.text;
  }
}

TEST(Options, SayWhatAValueShouldHaveBeen) {
  struct Case {
    const char* name;
    const char* value;
    const char* message;
  };
  for (const Case& c : {
           Case{"top", "-1", "top: '-1' is not a whole number, 0 or more"},
           {"top", "1.5", "top: '1.5' is not a whole number, 0 or more"},
           {"top", "", "top: '' is not a whole number, 0 or more"},
           {"rate", "abc", "rate: 'abc' is not a number, 0 or more, such as 380.5"},
           {"rate", "nan", "rate: 'nan' is not a number, 0 or more, such as 380.5"},
           {"rate", "inf", "rate: 'inf' is not a number, 0 or more, such as 380.5"},
           {"rate", "-1.5", "rate: '-1.5' is not a number, 0 or more, such as 380.5"},
           {"rate", "380,5", "rate: '380,5' is not a number, 0 or more, such as 380.5"},
           {"rate", "", "rate: '' is not a number, 0 or more, such as 380.5"},
           {"gap", "3 weeks", "gap: '3 weeks' is not a length of time such as 30us, 1.5ms or 2s"},
           {"gap", "nan", "gap: 'nan' is not a length of time such as 30us, 1.5ms or 2s"},
           {"gap", "1e300s", "gap: '1e300s' is not a length of time such as 30us, 1.5ms or 2s"},
           {"limit", "120%", "limit: '120%' is not a share such as 0.2 or 20%"},
           {"limit", "2", "limit: '2' is not a share such as 0.2 or 20%"},
           {"room", "80x", "room: '80x' is not a size such as 80GiB or 500MB"},
           {"room", "", "room: '' is not a size such as 80GiB or 500MB"},
           {"within", "week", "within: 'week' is not one of steps, work"},
           {"memory", "maybe", "memory: 'maybe' is not true or false"},
           {"bottom", "1", "there is no option 'bottom'"},
       }) {
    const auto options = parse_options(kParameters, {{c.name, c.value}});
    ASSERT_FALSE(options) << c.name << " " << c.value;
    EXPECT_EQ(options.error().message, c.message);
    EXPECT_EQ(options.error().code, base::Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace stepscope::analysis
