// `stepscope report`: the page to read first, as text, Markdown, JSON, CSV or HTML.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/page_output.h"
#include "cli/terminal/console.h"
#include "report/help/help.h"
#include "report/info/info_text.h"
#include "report/page/page.h"
#include "session/files/run_folder.h"
#include "session/full_report.h"

namespace stepscope::cli {
namespace {

constexpr std::array kReportOptions = std::to_array<Option>({
    kHtmlOption,
    kMarkdownOption,
    kReportJsonOption,
    kTablesOption,
    kRankOption,
    kStepOption,
    kStepsOption,
    kPeaksOption,
    kThresholdsOption,
    {.name = "grams-per-kwh",
     .value = "NUMBER",
     .help = "CO2 of the electricity, such as 380.5, to tell that of the run"},
    kWidthOption,
    {.name = "brief", .help = "print at most 58 lines: the findings and the first sections"},
    {.name = "glossary", .help = "explain the words of the report, and read nothing"},
});

struct ReportRequest {
  report::Look look;
  analysis::Selection selection;
  session::ReportRequest asked;
};

// Says what is wrong before a large run is read for nothing.
base::Result<ReportRequest> report_request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  ReportRequest request;
  SCOPE_TRY(request.look, look_from(context));
  SCOPE_TRY(check_page_options(arguments));
  SCOPE_TRY(request.selection, selection_from(arguments));
  SCOPE_TRY(request.asked.thresholds, thresholds_from(arguments));
  request.asked.paths = typed_paths(arguments);
  SCOPE_TRY(request.asked.settings, settings_from(arguments, {"grams-per-kwh"}));
  request.asked.everything = arguments.has_option("json") || arguments.has_option("csv");
  return request;
}

base::Status write_report(const Context& context, const report::Answers& answers,
                          const report::Look& look) {
  const bool tables = context.arguments.has_option("csv");
  if (tables) SCOPE_TRY(write_tables(context, answers));
  return write_page(context, answers,
                    report::make_page(answers, session::named_run(context.arguments.words())), look,
                    tables);
}

// What there is without a trace, in words, and which command shows more of it.
struct Others {
  std::string what;                // "this is a memory snapshot"
  std::vector<std::string> hints;  // "`stepscope memory` tells what a memory snapshot says"
};

Others others_in(const TimedRun& opened, std::span<const std::string> paths) {
  std::vector<std::string_view> parts;
  const auto add = [&](std::size_t files, std::string_view one, std::string_view several) {
    if (files > 0) parts.push_back(files == 1 ? one : several);
  };
  add(opened.snapshots.size(), "a memory snapshot", "memory snapshots");
  add(opened.timelines.size(), "a memory timeline", "memory timelines");
  add(opened.stats.size(), "a file of memory statistics", "files of memory statistics");
  Others out;
  if (!parts.empty()) {
    out.hints.emplace_back(opened.snapshots.empty()
                               ? "`stepscope memory` tells more"
                               : "`stepscope memory` tells what a memory snapshot says");
  }
  add(opened.nodes.size(), "samples of a machine", "samples of machines");
  if (!opened.nodes.empty()) {
    out.hints.push_back(fmt::format("`stepscope analyze system {}` tells what the samples say",
                                    report::typed_again(paths)));
  }
  const bool is_one = parts.size() == 1 && parts.front().starts_with("a ");
  out.what = fmt::format("{} {}", is_one ? "this is" : "these are", fmt::join(parts, " and "));
  return out;
}

// Nothing of the page can be said without a trace: shows what there is and which command shows
// more.
Exit show_others(const Context& context, const TimedRun& opened, const report::Look& look) {
  const Others others = others_in(opened, context.arguments.words());
  if (context.arguments.has_option("json") || context.arguments.has_option("md") ||
      context.arguments.has_option("html") || context.arguments.has_option("csv")) {
    context.console.error(others.what + ", and the report needs a trace");
    for (const std::string& hint : others.hints) context.console.hint(hint);
    return Exit::kNotReadable;
  }
  report::InfoTextOptions options;
  options.look = look;
  std::string text = report::memory_text(session::memory_of(opened), options);
  const std::string machines =
      report::machines_text(session::summary_without_memory(opened).machines, options);
  if (!text.empty() && !machines.empty()) text += '\n';
  text += machines;
  const std::string needs =
      fmt::format("The report needs a trace; {}.", fmt::join(others.hints, "; "));
  text += '\n';
  for (const std::string& line : report::wrapped(needs, look.width)) text += line + '\n';
  if (const base::Status written = context.console.write(text); !written) {
    return show_error(context, written.error());
  }
  return finish(context, opened, Shown::kWithLosses);
}

Exit run_report(const Context& context) {
  if (context.arguments.has_option("glossary")) {
    const auto look = look_from(context);
    if (!look) return show_error(context, look.error());
    return show_text(context, report::glossary_text(*look));
  }
  const auto request = report_request_from(context);
  if (!request) return show_error(context, request.error());
  Exit status = Exit::kDone;
  const std::optional<TimedRun> opened = open_run(context, status);
  if (!opened) return status;
  if (opened->run.ranks.empty()) return show_others(context, *opened, request->look);
  const auto answers =
      session::full_report(*opened, request->selection, request->asked, context.settings.jobs);
  if (!answers) return show_selection_error(context, answers.error());
  if (const base::Status written = write_report(context, *answers, request->look); !written) {
    return show_error(context, written.error());
  }
  return finish(context, *opened, shown_on_stdout(context.arguments));
}

// `stepscope help report glossary`
std::string help_report_about(std::span<const std::string> words, const report::Look& look) {
  return words.front() == "glossary" ? report::glossary_text(look) : std::string();
}

}  // namespace

const Command kReport{
    .name = "report",
    .summary = "the page to read first: where the time goes, what to look at next",
    .arguments = "PATH...",
    .text =
        R"(Asks every question at once and shows the answers on one page: what is wrong and what to
change about it (more by `stepscope advise`), where the step time goes, step times and
outliers, kernels, idle time, communication, data loading, transfers; what was odd in the
files; and which command to run next.

PATH is a trace file, a folder of them (one per rank), or - for standard input.
)",
    .options = kReportOptions,
    .examples = R"(  stepscope report trace.json.gz
  stepscope report --html report.html runs/exp1/
  stepscope report --json runs/exp1/ | jq '.analyses.kernels.tables.kernels[0]'
  stepscope report --csv tables/ --rank 0 --step 3-7 runs/exp1/
)",
    .completes = Completes::kFiles,
    .run = run_report,
    .help_about = help_report_about,
};

}  // namespace stepscope::cli
