// `stepscope advise`: findings as text, Markdown, JSON or SARIF.
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/terminal/console.h"
#include "report/findings/advice.h"
#include "report/page/page.h"
#include "session/full_report.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kAdviseOptions = std::to_array<Option>({
    {.name = "json", .help = "print JSON (schema stepscope.advice/1)"},
    {.name = "md", .help = "print Markdown instead of text"},
    {.name = "sarif", .help = "print SARIF 2.1.0, which code-review tools read"},
    {.name = "all",
     .help = "also how each finding was measured, where to look, how sure it is and how to check a "
             "change; and why rules could not judge"},
    kThresholdsOption,
    {.name = "device-memory",
     .value = "SIZE",
     .help = "memory of the device, as in 80GiB, where a snapshot does not tell"},
    {.name = "step-time",
     .value = "TIME",
     .help = "how long a step takes without a profiler, as in 21ms: gains leave out what recording "
             "costs"},
    {.name = "explain",
     .value = "RULE",
     .help = "explain a rule: what it means and costs, what to do, its thresholds, what it needs"},
    kRankOption,
    kStepOption,
    kStepsOption,
    kPeaksOption,
    kWidthOption,
});

struct AdviseRequest {
  report::Look look;
  analysis::Selection selection;
  session::ReportRequest asked{.sections = false};
};

base::Result<base::Nanos> step_time_from(const Arguments& arguments) {
  if (!arguments.has_option("step-time")) return 0;
  constexpr std::array kStepTime = std::to_array<analysis::Parameter>(
      {{"step-time", analysis::ParameterType::kDuration, "1ms", "of a step"}});
  SCOPE_TRY(const analysis::Options options,
            analysis::parse_options(kStepTime, {{"step-time", arguments.text("step-time")}}));
  return options.duration("step-time");
}

// Says what is wrong before a large run is read for nothing.
base::Result<AdviseRequest> advise_request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  AdviseRequest request;
  const int forms = (arguments.has_option("json") ? 1 : 0) + (arguments.has_option("md") ? 1 : 0) +
                    (arguments.has_option("sarif") ? 1 : 0);
  if (forms > 1) {
    return base::fail(base::Code::kInvalidArgument, "--json, --md and --sarif: choose one");
  }
  SCOPE_TRY(request.look, look_from(context));
  SCOPE_TRY(request.selection, selection_from(arguments));
  SCOPE_TRY(request.asked.thresholds, thresholds_from(arguments));
  SCOPE_TRY(request.asked.step_ns, step_time_from(arguments));
  request.asked.paths = typed_paths(arguments);
  SCOPE_TRY(request.asked.settings, settings_from(arguments, {"device-memory"}));
  return request;
}

// Nothing where it is not below the folder.
std::optional<std::string> seen_from(const fs::path& folder, const fs::path& path) {
  const fs::path below = path.lexically_relative(folder);
  if (below.empty() || *below.begin() == "..") return std::nullopt;
  return below.generic_string();
}

// The first path, seen from the working folder where it lies below that, also by way of a link:
// what a tool that shows SARIF beside files of a repository can find.
std::string recording_of(const Arguments& arguments) {
  const std::string& typed = arguments.words().front();
  if (typed == "-") return "stdin";
  std::error_code unknown;
  const fs::path folder = fs::current_path(unknown);
  const fs::path path = (folder / typed).lexically_normal();
  if (unknown) return path.generic_string();
  std::optional<std::string> seen = seen_from(folder, path);
  if (!seen) {
    const fs::path parent = fs::weakly_canonical(path.parent_path(), unknown);
    if (!unknown) seen = seen_from(folder, parent / path.filename());
  }
  return seen.value_or(path.generic_string());
}

std::string written_advise(const Arguments& arguments, const advice::Advice& advice,
                           const report::Look& look) {
  const report::AdviceLength length =
      arguments.has_option("all") ? report::AdviceLength::kEverything : report::AdviceLength::kAll;
  if (arguments.has_option("json")) return report::advice_json(advice);
  if (arguments.has_option("md")) return report::advice_md(advice, length);
  if (arguments.has_option("sarif")) {
    return report::advice_sarif(advice, STEPSCOPE_VERSION, recording_of(arguments));
  }
  return report::advice_text(advice, look, length);
}

Exit explain(const Context& context, const report::Look& look) {
  const std::string rule = context.arguments.text("explain");
  const std::string text = report::rule_text(rule, look);
  if (!text.empty()) return show_text(context, text);
  const std::vector<std::string_view> names = report::rule_names();
  const std::string near = suggestion(rule, names);
  context.console.error(fmt::format("there is no rule '{}'{}", rule, near));
  context.console.hint(near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                    : "`stepscope help advise rules` lists them all");
  return Exit::kUsage;
}

Exit run_advise(const Context& context) {
  const auto request = advise_request_from(context);
  if (!request) return show_error(context, request.error());
  if (context.arguments.has_option("explain")) return explain(context, request->look);
  Exit status = Exit::kDone;
  const std::optional<TimedRun> opened = open_run(context, status);
  if (!opened) return status;
  const auto answers =
      session::full_report(*opened, request->selection, request->asked, context.settings.jobs);
  if (!answers) return show_selection_error(context, answers.error());
  const std::string text = written_advise(context.arguments, *answers->advice, request->look);
  if (const base::Status shown = context.console.write(text); !shown) {
    return show_error(context, shown.error());
  }
  return finish(context, *opened, Shown::kWithoutLosses);
}

// `stepscope help advise rules`
std::string help_advise_about(std::span<const std::string> words, const report::Look& look) {
  return words.front() == "rules" ? report::rules_text(look) : std::string();
}

}  // namespace

const Command kAdvise{
    .name = "advise",
    .summary = "what is wrong, what to change and what it would bring",
    .arguments = "PATH...",
    .text =
        R"(Judges the run by rules and shows what they found, the gravest first: why, how much
shorter a step would be (at least and at most), and what to change as code. With --all also what
was measured against which threshold, where to look, and how to check the change.

PATH is a trace file, a folder of them (one per rank), a memory snapshot, or - for standard
input. Every rule has a page in docs/advice/; `stepscope help advise rules` lists them.
)",
    .options = kAdviseOptions,
    .examples = R"(  stepscope advise trace.json.gz
  stepscope advise --json runs/exp1/ | jq '.findings[0].title'
  stepscope advise --thresholds rules.yaml runs/exp1/
)",
    .completes = Completes::kFiles,
    .run = run_advise,
    .help_about = help_advise_about,
};

}  // namespace stepscope::cli
