// Which annotations are steps, in the user's words: a regular expression (that of ECMAScript,
// without references back).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::trace {

class StepPattern {
 public:
  StepPattern() = default;  // none was given

  // Fails where the text is no regular expression. An empty one is none.
  static base::Result<StepPattern> parse(const std::string& text);

  bool is_given() const { return matches_ != nullptr; }
  // Names come from files of others, and may be of any length: those that are too long to be a
  // step's do not match.
  bool matches(std::string_view name) const;

 private:
  std::function<bool(std::string_view)> matches_;
};

}  // namespace stepscope::trace
