#include "session/analyze.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/open_run.h"
#include "cli/settings.h"
#include "cli/suggest.h"
#include "report/tables.h"

namespace stepscope::cli {
namespace {

using analysis::Analysis;
using base::Code;
using base::fail;

constexpr std::array<std::string_view, 4> kFormats = {"text", "csv", "json", "md"};

constexpr std::array kOwn = std::to_array<Option>({
    {.name = "list", .help = "list the analyses and what they answer"},
    {.name = "format",
     .letter = 'f',
     .value = "FORMAT",
     .help = "text (default), csv, json or md",
     .choices = kFormats},
    {.name = "table", .value = "NAME", .help = "this table of the answer only"},
    {.name = "rank", .value = "LIST", .help = "these ranks only: 0,3,8-15"},
    {.name = "step", .value = "LIST", .help = "these steps only: 3 or 3,5-7"},
    {.name = "steps",
     .value = "PATTERN",
     .help = "names of the steps, a regular expression (default: ProfilerStep#N and its like)"},
});

// The command's own options, then the parameters of all analyses, each name once.
const std::vector<Option>& all_options() {
  static const std::vector<Option> options = [] {
    std::vector<Option> out(kOwn.begin(), kOwn.end());
    for (const Analysis* analysis : analysis::analyses()) {
      for (const analysis::Parameter& parameter : analysis->parameters) {
        if (const auto known = std::ranges::find(out, parameter.name, &Option::name);
            known != out.end()) {
          // Two analyses, other words: parse_options knows which.
          if (!std::ranges::equal(known->choices, parameter.choices)) known->choices = {};
          continue;
        }
        const bool is_switch = parameter.type == analysis::ParameterType::kSwitch;
        out.push_back({.name = parameter.name,
                       .value = is_switch ? std::string_view{} : std::string_view("VALUE"),
                       .help = parameter.about,
                       .choices = parameter.choices});
      }
    }
    return out;
  }();
  return options;
}

base::Result<std::vector<std::int64_t>> number_list(const Arguments& arguments,
                                                    std::string_view option) {
  std::vector<std::int64_t> numbers;
  const std::string text = arguments.text(option);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int64_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    std::int64_t last = first;
    bool good = parsed.ec == std::errc();
    if (good && parsed.ptr < end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
      good = parsed.ec == std::errc() && last >= first && last - first < 1'000'000;
    }
    if (!good || (parsed.ptr < end && *parsed.ptr != ',')) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: '{}' is no list of numbers such as 0,3,8-15",
                              arguments.origin(option), text));
    }
    for (std::int64_t n = first; n <= last; ++n) numbers.push_back(n);
    at = parsed.ptr < end ? parsed.ptr + 1 : end;
  }
  return numbers;
}

base::Result<std::map<std::string, std::string>> own_parameters(const Arguments& arguments,
                                                                const Analysis& analysis) {
  std::map<std::string, std::string> given;
  for (const Option& option : all_options()) {
    if (!arguments.has(option.name)) continue;
    if (std::ranges::find(kOwn, option.name, &Option::name) != kOwn.end()) continue;
    const std::string name(option.name);
    if (std::ranges::find(analysis.parameters, option.name, &analysis::Parameter::name) ==
        analysis.parameters.end()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{} has no option {}", analysis.name, arguments.origin(option.name)));
    }
    given[name] = option.value.empty() ? "true" : arguments.text(option.name);
  }
  return given;
}

std::string list_text() {
  std::string text;
  for (const Analysis* analysis : analysis::analyses()) {
    text += fmt::format("{:<20} {}\n", analysis->name, analysis->question);
  }
  return text;
}

base::Result<std::string> rendered(const Context& context, const Analysis& about,
                                   const analysis::Answer& answer) {
  const std::string format = context.arguments.text("format");
  if (format == "json") return report::answer_json(about, answer);
  std::string text;
  for (const base::Table& table : answer.tables) {
    if (context.arguments.has("table") && context.arguments.text("table") != table.name()) continue;
    if (!text.empty()) text += "\n";
    text += report::table_csv(table);
  }
  return text;
}

base::Result<analysis::Selection> selection(const Arguments& arguments) {
  analysis::Selection chosen;
  SCOPE_TRY(const auto ranks, number_list(arguments, "rank"));
  for (const std::int64_t rank : ranks) chosen.ranks.push_back(static_cast<std::int32_t>(rank));
  SCOPE_TRY(chosen.steps, number_list(arguments, "step"));
  return chosen;
}

Exit run_analyze(const Context& context) {
  if (context.arguments.has("list")) {
    (void)context.console.write(list_text());
    return Exit::kDone;
  }
  const std::vector<std::string>& words = context.arguments.words();
  if (words.empty()) {
    context.console.error("no analysis given: `stepscope analyze --list` lists them");
    return Exit::kUsage;
  }
  const Analysis* about = analysis::find_analysis(words.front());
  if (about == nullptr) {
    context.console.error(fmt::format(
        "there is no analysis '{}': `stepscope analyze --list` lists them", words.front()));
    return Exit::kUsage;
  }
  const auto given = own_parameters(context.arguments, *about);
  if (!given) return show_error(context, given.error());
  const auto chosen = selection(context.arguments);
  if (!chosen) return show_error(context, chosen.error());

  Exit status = Exit::kDone;
  const std::optional<OpenedRun> opened = open_run(context, status, 1);
  if (!opened) return status;
  const auto study = session::Study::prepare(opened->run, *chosen, context.settings.jobs);
  if (!study) return show_error(context, study.error());
  const auto answer = study->ask(about->name, *given);
  if (!answer) return show_error(context, answer.error());
  const auto text = rendered(context, *about, *answer);
  if (!text) return show_error(context, text.error());
  if (const base::Status written = context.console.write(*text); !written) {
    return show_error(context, written.error());
  }
  for (const std::string& remark : answer->remarks) context.console.note(remark);
  if (!trace::lost_data(opened->run)) return Exit::kDone;
  note_lost_data(context, opened->run);
  return Exit::kDataLost;
}

}  // namespace

const Command kAnalyze{
    .name = "analyze",
    .summary = "one question about a run; --list shows all",
    .arguments = "NAME PATH...",
    .text = "Answers one question.\n",
    .options = all_options(),
    .examples = R"(  stepscope analyze --list
  stepscope analyze kernels --top 10 trace.json.gz
)",
    .completes = Completes::kFiles,
    .run = run_analyze,
};

}  // namespace stepscope::cli
