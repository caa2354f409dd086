// Options of analyses: which are accepted, and what is suggested for a mistyped one.
#include "cli/options/analysis_options.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::cli {
namespace {

constexpr std::array kSettings = std::to_array<Option>({
    {.name = "device-memory", .value = "SIZE"},
    {.name = "top", .letter = 't', .value = "N"},
});

Arguments parsed_analysis_options(const std::vector<std::string>& words,
                                  const std::map<std::string, std::string>& variables = {}) {
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  auto arguments = parse(words, kSettings, {}, environment);
  EXPECT_TRUE(arguments);
  return arguments ? *std::move(arguments) : Arguments();
}

// With STEPSCOPE_TOP set, a user would look for a flag in vain.
TEST(AnalysisOptions, BlameTheFlagOrTheVariableThatWasWrong) {
  const auto setting = [](const Arguments& arguments) {
    const auto taken = settings_from(arguments, {"device-memory"});
    return taken ? std::string() : taken.error().message;
  };
  EXPECT_EQ(setting(parsed_analysis_options({"--device-memory", "much"})),
            "--device-memory: 'much' is not a size such as 80GiB or 500MB");
  EXPECT_EQ(setting(parsed_analysis_options({}, {{"STEPSCOPE_DEVICE_MEMORY", "much"}})),
            "STEPSCOPE_DEVICE_MEMORY: 'much' is not a size such as 80GiB or 500MB");
  EXPECT_EQ(setting(parsed_analysis_options({"--device-memory", "80GiB"},
                                            {{"STEPSCOPE_DEVICE_MEMORY", "much"}})),
            "");

  const auto parameter = [](const Arguments& arguments) {
    const auto taken = parameters_from(arguments, *analysis::find_analysis("kernels"), kSettings);
    return taken ? std::string() : taken.error().message;
  };
  EXPECT_EQ(parameter(parsed_analysis_options({"--top", "few"})),
            "--top: 'few' is not a whole number, 0 or more");
  EXPECT_EQ(parameter(parsed_analysis_options({"-t", "few"})),
            "-t: 'few' is not a whole number, 0 or more");
  EXPECT_EQ(parameter(parsed_analysis_options({}, {{"STEPSCOPE_TOP", "few"}})),
            "STEPSCOPE_TOP: 'few' is not a whole number, 0 or more");
}

}  // namespace
}  // namespace stepscope::cli
