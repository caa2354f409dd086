#include "trace/step_pattern.h"

#include <algorithm>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace stepscope::trace {
namespace {

// Looking for a pattern takes the square of a name's length.
constexpr std::size_t kLongestName = 512;
// Reading a pattern takes a piece of the stack for each bracket in it.
constexpr std::size_t kLongestPattern = 1000;
// What is to come so many times stands as often in what a pattern becomes.
constexpr std::size_t kMostTimes = 100;

// How often something is to come, by all numbers in braces together.
std::size_t most_times(std::string_view text) {
  std::size_t times = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
      continue;
    }
    if (text[at] != '{') continue;
    std::size_t most = 0;
    std::size_t number = 0;
    for (++at; at < text.size() && text[at] != '}'; ++at) {
      const bool is_digit = text[at] >= '0' && text[at] <= '9';
      number = is_digit ? std::min<std::size_t>(number * 10 + (text[at] - '0'), kMostTimes + 1) : 0;
      most = std::max(most, number);
    }
    times = std::min(times * std::max<std::size_t>(most, 1), kMostTimes + 1);
  }
  return times;
}

// In words: those of the library are about its own flags.
std::string_view words_of(std::regex_constants::error_type error) {
  namespace why = std::regex_constants;
  if (error == why::error_paren) return "a ( or ) stands alone, or nothing before a * or +";
  if (error == why::error_brack) return "a [ has no ]";
  if (error == why::error_brace) return "a { has no }";
  if (error == why::error_badbrace) return "in { } stands no number of times";
  if (error == why::error_range) return "a range in [ ] runs backwards";
  if (error == why::error_badrepeat) return "nothing stands before a *, +, ? or {";
  if (error == why::error_escape) return "a backslash stands before what it cannot change";
  if (error == why::error_ctype || error == why::error_collate) return "no class of that name";
  if (error == why::error_backref || error == why::error_complexity) {
    return "references back, as \\1, are not taken";
  }
  return "it is too large";
}

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
  if (most_times(text) > kMostTimes) {
    return unusable(text, fmt::format("something in it is to come more than {} times", kMostTimes));
  }
  try {
    // The usual way to match tries again and again: it would take for ever, and more stack than
    // there is, where pattern and name go badly together.
    std::regex wanted(text, std::regex::ECMAScript | std::regex_constants::__polynomial);
    pattern.matches_ = [wanted = std::move(wanted)](std::string_view name) {
      return std::regex_search(name.begin(), name.end(), wanted);
    };
  } catch (const std::regex_error& error) {
    return unusable(text, words_of(error.code()));
  }
  return pattern;
}

bool StepPattern::matches(std::string_view name) const {
  return matches_ != nullptr && name.size() <= kLongestName && matches_(name);
}

}  // namespace stepscope::trace
