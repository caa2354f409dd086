// Reads the options that commands about analyses share: ranks, steps, peaks, thresholds and
// parameters.
#include "cli/options/analysis_options.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_word.h"
#include "base/number_list.h"
#include "base/number_text.h"
#include "cli/open_run.h"
#include "cli/terminal/console.h"
#include "report/help/help.h"
#include "report/page/page.h"
#include "session/full_report.h"
#include "session/user_files/user_files.h"

namespace stepscope::cli {

namespace {

using analysis::Analysis;
using analysis::Parameter;
using base::Code;
using base::fail;

base::Failure no_list(const Arguments& arguments, std::string_view option) {
  return fail(Code::kInvalidArgument,
              fmt::format("{}: '{}' is no list of numbers such as 0,3,8-15",
                          arguments.origin(option), arguments.text(option)));
}

base::Result<std::vector<std::int64_t>> number_list(const Arguments& arguments,
                                                    std::string_view option) {
  if (!arguments.has_option(option)) return std::vector<std::int64_t>();
  auto numbers = base::parse_number_list(arguments.text(option));
  if (!numbers) return no_list(arguments, option);
  return *std::move(numbers);
}

const Parameter* find_parameter(const Analysis& analysis, std::string_view name) {
  const auto found = std::ranges::find(analysis.parameters, name, &Parameter::name);
  return found == analysis.parameters.end() ? nullptr : &*found;
}

// "batch-size: 'x' is not …", as an analysis says it, with the flag or the variable that set it.
base::Failure wrong_value(const Arguments& arguments, const base::Error& error) {
  const std::size_t end = std::min(error.message.find(':'), error.message.size());
  const std::string name = error.message.substr(0, end);
  const std::string origin = arguments.has_option(name) ? arguments.origin(name) : "--" + name;
  return fail(error.code, origin + error.message.substr(end));
}

// Which analyses have an option that this one lacks.
std::string owners_of(std::string_view parameter) {
  std::vector<std::string_view> owners;
  for (const Analysis* other : analysis::analyses()) {
    if (find_parameter(*other, parameter) != nullptr) owners.push_back(other->name);
  }
  return fmt::format("{}", fmt::join(owners, ", "));
}

}  // namespace

base::Result<analysis::Selection> selection_from(const Arguments& arguments,
                                                 std::string_view side) {
  const auto option = [&](std::string_view name) {
    std::string own = std::string(name) + std::string(side);
    return arguments.has_option(own) ? own : std::string(name);
  };
  analysis::Selection chosen;
  SCOPE_TRY(const auto ranks, number_list(arguments, option("rank")));
  for (const std::int64_t rank : ranks) {
    if (rank > std::numeric_limits<std::int32_t>::max()) return no_list(arguments, option("rank"));
    chosen.ranks.push_back(static_cast<std::int32_t>(rank));
  }
  SCOPE_TRY(chosen.steps, number_list(arguments, option("step")));
  if (arguments.has_option("peaks")) {
    SCOPE_TRY(chosen.peaks, session::read_peaks(arguments.text("peaks")));
  }
  return chosen;
}

Exit show_selection_error(const Context& context, const base::Error& error) {
  const Exit status = show_error(context, error);
  return error.code == Code::kNotFound ? Exit::kUsage : status;
}

base::Result<std::uint64_t> count_from(const Arguments& arguments, std::string_view option) {
  const std::string text = arguments.text(option);
  if (const auto count = base::parse_number<std::uint64_t>(text)) return *count;
  return fail(Code::kInvalidArgument, fmt::format("{}: '{}' is not a whole number, 0 or more",
                                                  arguments.origin(option), text));
}

base::Result<report::Look> look_from(const Context& context) {
  constexpr std::size_t kPage = 100;
  report::Look look = context.console.out_look();
  if (look.width == 0) look.width = kPage;
  if (context.arguments.has_option("width")) {
    SCOPE_TRY(look.width, count_from(context.arguments, "width"));
  }
  return look;
}

std::vector<Option> parameter_options(std::span<const Option> own) {
  std::vector<Option> options;
  for (const Analysis* analysis : analysis::analyses()) {
    for (const Parameter& parameter : analysis->parameters) {
      if (std::ranges::find(own, parameter.name, &Option::name) != own.end()) continue;
      const auto known = std::ranges::find(options, parameter.name, &Option::name);
      if (known == options.end()) {
        options.push_back({.name = parameter.name,
                           .value = report::value_name(parameter.type),
                           .help = parameter.about,
                           .choices = parameter.choices,
                           .listed = false});
      } else if (!std::ranges::equal(known->choices, parameter.choices)) {
        known->choices = {};  // the analysis itself knows which words it takes
      }
    }
  }
  return options;
}

base::Result<std::map<std::string, std::string>> parameters_from(
    const Arguments& arguments, const Analysis& analysis,
    std::span<const Option> parameter_options) {
  std::map<std::string, std::string> given;
  const auto take = [&](std::string_view name, bool is_switch) {
    given[std::string(name)] = is_switch ? "true" : arguments.text(name);
  };
  for (const Option& option : parameter_options) {
    if (!arguments.has_option(option.name)) continue;
    if (find_parameter(analysis, option.name) != nullptr) {
      take(option.name, option.value.empty());
    } else if (const std::string origin = arguments.origin(option.name); origin.starts_with('-')) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} has no option {}; that one belongs to {}", analysis.name, origin,
                              owners_of(option.name)));
    }
  }
  // Options of the command that this analysis takes itself: --top.
  for (const Parameter& parameter : analysis.parameters) {
    const bool listed = std::ranges::find(parameter_options, parameter.name, &Option::name) !=
                        parameter_options.end();
    if (!listed && arguments.has_option(parameter.name)) take(parameter.name, false);
  }
  if (const auto checked = analysis::parse_options(analysis.parameters, given); !checked) {
    return wrong_value(arguments, checked.error());
  }
  return given;
}

base::Result<std::map<std::string, std::string>> settings_from(
    const Arguments& arguments, std::initializer_list<const char*> names) {
  std::map<std::string, std::string> settings;
  for (const std::string name : names) {
    if (!arguments.has_option(name)) continue;
    settings[name] = arguments.text(name);
    if (const base::Status checked = session::check_setting(name, settings[name]); !checked) {
      return wrong_value(arguments, checked.error());
    }
  }
  return settings;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> words) {
  const std::string_view near = base::nearest_word(word, words);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

base::Result<const Analysis*> analysis_named(const std::string& name) {
  if (const Analysis* found = analysis::find_analysis(name)) return found;
  std::vector<std::string_view> names;
  for (const Analysis* analysis : analysis::analyses()) names.push_back(analysis->name);
  return fail(Code::kInvalidArgument,
              fmt::format("there is no analysis '{}'{}", name, suggestion(name, names)));
}

base::Result<advice::OwnThresholds> thresholds_from(const Arguments& arguments) {
  if (!arguments.has_option("thresholds")) return advice::OwnThresholds{};
  return session::read_thresholds(arguments.text("thresholds"));
}

std::string typed_paths(const Arguments& arguments) {
  const std::vector<std::string>& paths = arguments.words();
  const bool all_files = std::ranges::find(paths, "-") == paths.end();
  return all_files ? report::typed_again(paths) : std::string();
}

}  // namespace stepscope::cli
