#include "base/nearest_word.h"

#include <array>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

TEST(Suggest, OfSeveralThatBeginSoTheShortest) {
  constexpr std::array<std::string_view, 3> kWords = {"kernel-types", "kernels",
                                                      "kernel-durations"};
  EXPECT_EQ(nearest_word("kernel", kWords), "kernels");
}

TEST(Suggest, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 5> kWords = {"info", "export", "help", "completion",
                                                      "no-timing"};
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"inof", "info"},
      {"ifno", "info"},
      {"exprot", "export"},
      {"exp", "export"},
      {"hlep", "help"},
      {"notiming", "no-timing"},
      {"complete", "completion"},
      {"analyze", ""},
      {"x", ""},
      {"", ""},
  };
  for (const auto& [word, expected] : cases)
    EXPECT_EQ(nearest_word(word, kWords), expected) << word;
}

}  // namespace
}  // namespace stepscope::base
