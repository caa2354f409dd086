// The general options, and sizes as users write them.
#include "cli/options/settings.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::cli {
namespace {

TEST(Settings, SizesMayBeAPartOfTheWhole) {
  const std::pair<std::string_view, std::uint64_t> cases[] = {
      {"1k", 1024}, {"50%", 500}, {"12.5 %", 125}, {"100%", 1000}};
  for (const auto& [text, bytes] : cases) {
    const auto size = size_from(text, 1000);
    ASSERT_TRUE(size) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
}

TEST(Settings, RefusesWhatIsNoSize) {
  for (const std::string_view text : {"", "%", "8X", "120%", "0%", "-1%", "nan%", "5%%"}) {
    EXPECT_FALSE(size_from(text, 1000)) << text;
  }
}

base::Result<Settings> settings(const std::vector<std::string>& words,
                                std::map<std::string, std::string> variables = {}) {
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  const auto arguments = parse(words, {}, general_options(), environment);
  if (!arguments) return base::Failure{arguments.error()};
  return settings_from(*arguments, environment);
}

TEST(Settings, JobsFollowFlagThenVariableThenSlurm) {
  EXPECT_EQ(settings({"-j3"}, {{"STEPSCOPE_JOBS", "2"}})->jobs, 3u);
  EXPECT_EQ(settings({}, {{"STEPSCOPE_JOBS", "2"}})->jobs, 2u);
  EXPECT_EQ(settings({}, {{"SLURM_CPUS_PER_TASK", "1"}})->jobs, 1u);
  EXPECT_GE(settings({})->jobs, 1u);
  for (const char* wrong : {"0", "-1", "x", "1.5", "99999"}) {
    EXPECT_FALSE(settings({}, {{"STEPSCOPE_JOBS", wrong}})) << wrong;
  }
}

TEST(Settings, ColourFollowsFlagThenNoColor) {
  EXPECT_EQ(settings({})->colour, Colour::kAuto);
  EXPECT_EQ(settings({}, {{"NO_COLOR", "1"}})->colour, Colour::kNever);
  EXPECT_EQ(settings({}, {{"NO_COLOR", ""}})->colour, Colour::kAuto);
  EXPECT_EQ(settings({"--color=always"}, {{"NO_COLOR", "1"}})->colour, Colour::kAlways);
  EXPECT_EQ(settings({"--color=never"})->colour, Colour::kNever);
}

TEST(Settings, QuietHidesProgressToo) {
  EXPECT_TRUE(settings({})->progress);
  EXPECT_FALSE(settings({"-q"})->progress);
  EXPECT_FALSE(settings({"--no-progress"})->progress);
}

TEST(Settings, MemoryErrorsNameTheirOrigin) {
  EXPECT_EQ(settings({"--max-memory=1G"})->max_memory_bytes, std::uint64_t{1} << 30);
  const auto wrong = settings({"--max-memory=lots"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "--max-memory: 'lots' is not a size such as 8G, 500M or 50%");
  const auto tiny = settings({"--max-memory=8"});
  ASSERT_FALSE(tiny);
  EXPECT_EQ(tiny.error().message, "--max-memory: '8' is a size of 8 bytes; say its unit, as in 8G");
  const auto block = settings({"--block-bytes=0"});
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().message, "--block-bytes: '0' is not a size such as 8G, 500M or 50%");
}

}  // namespace
}  // namespace stepscope::cli
