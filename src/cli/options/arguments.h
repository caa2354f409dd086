// What the user asked for: options by flag or by environment variable, and the rest of the words.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace stepscope::cli {

// A variable's value, or nothing. Tests bring their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_environment(const std::string& name);

class Arguments {
 public:
  bool has_option(std::string_view option) const;     // given and not switched off
  std::string text(std::string_view option) const;    // empty when not given
  std::string origin(std::string_view option) const;  // "--jobs" or "STEPSCOPE_JOBS"
  const std::vector<std::string>& words() const { return words_; }

 private:
  friend class ArgumentParser;
  struct Value {
    std::string text, origin;
  };
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> words_;
};

struct ParseOptions {
  bool stop_at_word = false;  // leave the first word and what follows in words()
};

// Errors are for the user to read: what is wrong and, where one is near, the right word.
base::Result<Arguments> parse(std::span<const std::string> arguments, std::span<const Option> own,
                              std::span<const Option> general, const Environment& environment,
                              ParseOptions options = {});

std::string variable_name(const Option& option);  // "STEPSCOPE_MAX_MEMORY"

}  // namespace stepscope::cli
