// The user's pattern for names of steps.
#include "trace/step_pattern.h"

#include <algorithm>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stepscope::trace {
namespace {

// Looking for a pattern takes the square of a name's length, times the size of the pattern.
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kMostPieces = 500;
// Reading a pattern takes a piece of the stack for each bracket in it.
constexpr std::size_t kLongestPattern = 1000;

// How many pieces the library makes of a pattern: what is to come n times stands there n times.
class Pieces {
 public:
  static std::size_t count_in(std::string_view text) {
    Pieces pieces(text);
    while (!pieces.rest_.empty()) pieces.take();
    while (pieces.groups_.size() > 1) pieces.close();
    return pieces.groups_.back().all;
  }

 private:
  struct Group {
    std::size_t all = 0, last = 0;  // the last is what a repeat after it repeats
  };
  static constexpr std::size_t kEnough = kMostPieces + 1;  // sums go no further

  explicit Pieces(std::string_view text) : rest_(text) {}

  void take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '(') {
      groups_.push_back({});
    } else if (c == ')' && groups_.size() > 1) {
      close();
    } else if (c == '{') {
      repeat(times());
    } else {
      if (c == '\\' && !rest_.empty()) rest_.remove_prefix(1);
      if (c == '[') skip_behind(']');
      add(1);
    }
  }
  void add(std::size_t pieces) {
    Group& group = groups_.back();
    group.last = pieces;
    group.all = std::min(group.all + pieces, kEnough);
  }
  void close() {
    const std::size_t inside = groups_.back().all;
    groups_.pop_back();
    add(inside + 2);
  }
  void repeat(std::size_t times) {
    if (times > 1) add(std::min(groups_.back().last * (times - 1), kEnough));
  }
  // The largest number before the brace that closes.
  std::size_t times() {
    std::size_t most = 0;
    std::size_t number = 0;
    for (; !rest_.empty() && rest_.front() != '}'; rest_.remove_prefix(1)) {
      const char c = rest_.front();
      const bool is_digit = c >= '0' && c <= '9';
      number = is_digit ? std::min(number * 10 + static_cast<std::size_t>(c - '0'), kEnough) : 0;
      most = std::max(most, number);
    }
    if (!rest_.empty()) rest_.remove_prefix(1);
    return most;
  }
  void skip_behind(char end) {
    while (!rest_.empty() && rest_.front() != end) {
      rest_.remove_prefix(rest_.front() == '\\' && rest_.size() > 1 ? 2 : 1);
    }
    if (!rest_.empty()) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::vector<Group> groups_ = {{}};
};

// In words: those of the library are about its own flags.
std::string_view words_of(std::regex_constants::error_type error) {
  namespace why = std::regex_constants;
  if (error == why::error_paren) {
    return "brackets do not match, nothing stands before a *, + or {, or (? begins what "
           "ECMAScript has not";
  }
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

base::Result<StepPattern> StepPattern::parse(const std::string& text) {
  StepPattern pattern;
  if (text.empty()) return pattern;
  if (text.size() > kLongestPattern || Pieces::count_in(text) > kMostPieces) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("'{}{}' is too large for a pattern of steps: at most {} "
                                  "characters, and {} pieces where repeats are written out",
                                  text.substr(0, 40), text.size() > 40 ? "..." : "",
                                  kLongestPattern, kMostPieces));
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
