#include "trace/step_pattern.h"

#include <regex>
#include <utility>

#include <fmt/format.h>

namespace stepscope::trace {
namespace {

// Looking for a pattern takes the square of a name's length.
constexpr std::size_t kLongestName = 512;
// Reading a pattern takes a piece of the stack for each bracket in it.
constexpr std::size_t kLongestPattern = 1000;

base::Failure unusable(std::string_view pattern, std::string_view why) {
  return base::fail(base::Code::kInvalidArgument,
                    fmt::format("'{}' is not a regular expression: {}", pattern, why));
}

}  // namespace

base::Result<StepPattern> StepPattern::of(const std::string& text) {
  StepPattern pattern;
  if (text.empty()) return pattern;
  if (text.size() > kLongestPattern) {
    return unusable(text.substr(0, 40) + "...",
                    fmt::format("it is longer than {} characters", kLongestPattern));
  }
  try {
    // The usual way to match tries again and again: it would take for ever, and more stack than
    // there is, where pattern and name go badly together.
    std::regex wanted(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
    pattern.matches_ = [wanted = std::move(wanted)](std::string_view name) {
      return std::regex_search(name.begin(), name.end(), wanted);
    };
  } catch (const std::regex_error& error) {
    return unusable(text, error.what());
  }
  return pattern;
}

bool StepPattern::matches(std::string_view name) const {
  return matches_ != nullptr && name.size() <= kLongestName && matches_(name);
}

}  // namespace stepscope::trace
