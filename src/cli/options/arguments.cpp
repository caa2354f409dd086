// Parses flags, environment variables and words by the options of a command.
#include "cli/options/arguments.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/nearest_word.h"

namespace stepscope::cli {

using base::Code;
using base::fail;

namespace {

// The ways to switch a switch off: STEPSCOPE_JSON=0, --json=no.
bool means_no(std::string_view text) {
  return text.empty() || text == "0" || text == "no" || text == "false" || text == "off";
}

bool means_yes(std::string_view text) {
  return text == "1" || text == "yes" || text == "true" || text == "on";
}

std::string quoted_list(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string variable_name(const Option& option) {
  std::string name = "STEPSCOPE_";
  for (const char c : option.name) {
    name += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

bool Arguments::has_option(std::string_view option) const { return values_.contains(option); }

std::string Arguments::text(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::string() : found->second.text;
}

std::string Arguments::origin(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::string() : found->second.origin;
}

class ArgumentParser {
 public:
  ArgumentParser(std::span<const Option> own, std::span<const Option> general) {
    for (const Option& option : own) options_.push_back(&option);
    for (const Option& option : general) options_.push_back(&option);
  }

  base::Result<Arguments> parse(std::span<const std::string> arguments,
                                const Environment& environment, ParseOptions how) {
    SCOPE_TRY(read_environment(environment));
    rest_ = arguments;
    while (!rest_.empty()) {
      const std::string& word = rest_.front();
      if (word == "--") {
        rest_ = rest_.subspan(1);
        break;
      }
      const bool is_option = word.size() > 1 && word[0] == '-';
      if (!is_option && how.stop_at_word) break;
      rest_ = rest_.subspan(1);
      if (!is_option) {
        result_.words_.push_back(word);
      } else if (word.starts_with("--")) {
        SCOPE_TRY(read_long(word));
      } else {
        SCOPE_TRY(read_letters(word));
      }
    }
    result_.words_.insert(result_.words_.end(), rest_.begin(), rest_.end());
    return std::move(result_);
  }

 private:
  base::Status read_environment(const Environment& environment) {
    for (const Option* option : options_) {
      if (option->name == "help" || option->name == "version") continue;
      const std::string variable = variable_name(*option);
      const std::optional<std::string> value = environment(variable);
      if (!value || value->empty()) continue;
      SCOPE_TRY(set(*option, *value, variable));
    }
    return base::Done{};
  }

  base::Status read_long(const std::string& word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(2, equals - 2);
    const auto found =
        std::ranges::find_if(options_, [&](const Option* option) { return option->name == name; });
    if (found == options_.end()) return unknown(word.substr(0, equals), name);
    const std::string origin = word.substr(0, equals);
    if (equals < word.size()) return set(**found, word.substr(equals + 1), origin);
    if ((*found)->value.empty()) return set(**found, "yes", origin);
    return set_from_next(**found, origin);
  }

  // -q, -j4, -j 4, -qj4
  base::Status read_letters(const std::string& word) {
    for (std::size_t at = 1; at < word.size(); ++at) {
      const auto found = std::ranges::find_if(
          options_, [&](const Option* option) { return option->letter == word[at]; });
      if (found == options_.end()) {
        return fail(Code::kInvalidArgument, fmt::format("unknown option '-{}'", word[at]));
      }
      const Option& option = **found;
      const std::string origin = fmt::format("-{}", word[at]);
      if (option.value.empty()) {
        SCOPE_TRY(set(option, "yes", origin));
        continue;
      }
      if (at + 1 == word.size()) return set_from_next(option, origin);
      const std::size_t begin = word[at + 1] == '=' ? at + 2 : at + 1;
      return set(option, word.substr(begin), origin);
    }
    return base::Done{};
  }

  base::Status set_from_next(const Option& option, const std::string& origin) {
    if (rest_.empty()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} needs a value ({})", origin, option.value));
    }
    const std::string value = rest_.front();
    rest_ = rest_.subspan(1);
    return set(option, value, origin);
  }

  base::Status set(const Option& option, const std::string& value, const std::string& origin) {
    if (!option.choices.empty() &&
        std::ranges::find(option.choices, value) == option.choices.end()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: '{}' is not {}", origin, value, quoted_list(option.choices)));
    }
    const std::string name(option.name);
    // A text to look for may be empty: all have it.
    if (!option.value.empty() && option.value != "TEXT" && value.empty()) {
      return fail(
          Code::kInvalidArgument,
          fmt::format("{} is empty; expected {}: is a variable not set?", origin, option.value));
    }
    if (option.value.empty() && !means_no(value) && !means_yes(value)) {
      return fail(Code::kInvalidArgument, fmt::format("{}: '{}' is not yes or no", origin, value));
    }
    if (option.value.empty() && means_no(value)) {
      result_.values_.erase(name);
    } else {
      result_.values_[name] = {value, origin};
    }
    return base::Done{};
  }

  base::Failure unknown(const std::string& word, const std::string& name) {
    std::vector<std::string_view> names;
    names.reserve(options_.size());
    for (const Option* option : options_) names.push_back(option->name);
    std::string message = fmt::format("unknown option '{}'", word);
    // Other commands have --json; here it is a format among others.
    const auto format = std::ranges::find(options_, std::string_view("format"), &Option::name);
    if (format != options_.end() && std::ranges::count((*format)->choices, name) > 0) {
      message += fmt::format("; did you mean '--format {}'?", name);
    } else if (const std::string_view near = base::nearest_word(name, names); !near.empty()) {
      message += fmt::format("; did you mean '--{}'?", near);
    }
    return fail(Code::kInvalidArgument, std::move(message));
  }

  std::vector<const Option*> options_;
  std::span<const std::string> rest_;
  Arguments result_;
};

base::Result<Arguments> parse(std::span<const std::string> arguments, std::span<const Option> own,
                              std::span<const Option> general, const Environment& environment,
                              ParseOptions options) {
  return ArgumentParser(own, general).parse(arguments, environment, options);
}

}  // namespace stepscope::cli
