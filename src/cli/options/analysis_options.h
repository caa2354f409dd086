// The options that commands about analyses share, and what the user chose by them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/options/arguments.h"
#include "report/writing/text_table.h"
#include "session/analyze.h"
#include "session/user_files/user_files.h"

namespace stepscope::cli {

inline constexpr Option kRankOption{
    .name = "rank", .value = "LIST", .help = "these ranks only: 0,3,8-15"};
inline constexpr Option kStepOption{
    .name = "step", .value = "LIST", .help = "these steps only, by number: 3 or 3,5-7"};
inline constexpr Option kStepsOption{
    .name = "steps",
    .value = "PATTERN",
    .help = "names of the steps, a regular expression (default: ProfilerStep#N and its like)"};
inline constexpr Option kPeaksOption{
    .name = "peaks",
    .value = "FILE",
    .help = "YAML with what devices can do at best, where the program's own table is not right",
    .completes = Completes::kFiles};
inline constexpr Option kWidthOption{
    .name = "width",
    .value = "N",
    .help = "columns of text to use (default: the terminal's, elsewhere 100; 0: no limit)"};

// Ranks, steps, and the file of --peaks. Where a command has two sides, `side` ("-a") is what the
// options of one end in, and go before those of both.
base::Result<analysis::Selection> selection_from(const Arguments& arguments,
                                                 std::string_view side = {});

// Shows why nothing could be chosen: a rank or step that is not there is wrong usage.
Exit show_selection_error(const Context& context, const base::Error& error);

// The look of text for a page: of the terminal, or of 100 columns.
base::Result<report::Look> look_from(const Context& context);

// A whole number, 0 or more.
base::Result<std::uint64_t> count_from(const Arguments& arguments, std::string_view option);

// The parameters of all analyses as options, each name once, without those in `own`.
std::vector<Option> parameter_options(std::span<const Option> own);

// The parameters the user set, by name; an error when the analysis has no such parameter.
base::Result<std::map<std::string, std::string>> parameters_from(
    const Arguments& arguments, const analysis::Analysis& analysis,
    std::span<const Option> parameter_options);

// What the user set of the settings named, each checked: `--device-memory 80GiB` and its like.
base::Result<std::map<std::string, std::string>> settings_from(
    const Arguments& arguments, std::initializer_list<const char*> names);

// "; did you mean 'kernels'?", or nothing.
std::string suggestion(std::string_view word, std::span<const std::string_view> words);

// The analysis of that name, or what is wrong with the name.
base::Result<const analysis::Analysis*> analysis_named(const std::string& name);

// The option by which a user sets thresholds of rules.

inline constexpr Option kThresholdsOption{
    .name = "thresholds",
    .value = "FILE",
    .help = "YAML with thresholds of rules, where the program's own are not right",
    .completes = Completes::kFiles};

base::Result<advice::OwnThresholds> thresholds_from(const Arguments& arguments);

// The paths as they can be typed again in a shell; empty where one is standard input.
std::string typed_paths(const Arguments& arguments);

}  // namespace stepscope::cli
