#include <array>
#include <optional>
#include <utility>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/advice_options.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/page_output.h"
#include "cli/terminal/console.h"
#include "report/help/glossary.h"
#include "report/info/info_text.h"
#include "report/page/page.h"
#include "session/files/run_folder.h"
#include "session/full_report.h"

namespace stepscope::cli {
namespace {

constexpr std::array kOptions = std::to_array<Option>({
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
    {.name = "glossary", .help = "explain the words of the report, and read nothing"},
});

struct Request {
  report::Look look;
  analysis::Selection selection;
  session::ReportRequest asked;
};

// Says what is wrong before a large run is read for nothing.
base::Result<Request> request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  Request request;
  SCOPE_TRY(request.look, look_from(context));
  SCOPE_TRY(check_page_options(arguments));
  SCOPE_TRY(request.selection, selection_from(arguments));
  SCOPE_TRY(request.asked.thresholds, thresholds_from(arguments));
  request.asked.paths = typed_paths(arguments);
  SCOPE_TRY(request.asked.settings, settings_from(arguments, {"grams-per-kwh"}));
  request.asked.everything = arguments.has("json") || arguments.has("csv");
  return request;
}

base::Status write_report(const Context& context, const report::Answers& answers,
                          const report::Look& look) {
  const bool tables = context.arguments.has("csv");
  if (tables) SCOPE_TRY(write_tables(context, answers));
  return write_page(context, answers,
                    report::make_page(answers, session::named_run(context.arguments.words())), look,
                    tables);
}

// Nothing of the page can be said without a trace: shows what there is and who says more.
Exit show_snapshots(const Context& context, const OpenedRun& opened, const report::Look& look) {
  if (context.arguments.has("json") || context.arguments.has("md") ||
      context.arguments.has("html") || context.arguments.has("csv")) {
    context.console.error("this is a memory snapshot, and the report needs a trace");
    context.console.hint("`stepscope memory` tells what a snapshot says");
    return Exit::kNotReadable;
  }
  report::InfoTextOptions options;
  options.look = look;
  const std::string text =
      report::memory_text({opened.snapshots, opened.timelines, opened.stats}, options) +
      "\nThe report needs a trace; `stepscope memory` tells what a memory "
      "snapshot says.\n";
  if (const base::Status written = context.console.write(text); !written) {
    return show_error(context, written.error());
  }
  return finish(context, opened, Shown::kWithLosses);
}

Exit run_report(const Context& context) {
  if (context.arguments.has("glossary")) {
    const auto look = look_from(context);
    if (!look) return show_error(context, look.error());
    return show_text(context, report::glossary_text(*look));
  }
  const auto request = request_from(context);
  if (!request) return show_error(context, request.error());
  Exit status = Exit::kDone;
  const std::optional<OpenedRun> opened = open_run(context, status);
  if (!opened) return status;
  if (opened->run.ranks.empty()) return show_snapshots(context, *opened, request->look);
  const auto answers =
      session::full_report(*opened, request->selection, request->asked, context.settings.jobs);
  if (!answers) return show_selection_error(context, answers.error());
  if (const base::Status written = write_report(context, *answers, request->look); !written) {
    return show_error(context, written.error());
  }
  return finish(context, *opened, shown_on_stdout(context.arguments));
}

// `stepscope help report glossary`
std::string help_about(std::span<const std::string> words, const report::Look& look) {
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
    .options = kOptions,
    .examples = R"(  stepscope report trace.json.gz
  stepscope report --html report.html runs/exp1/
  stepscope report --json runs/exp1/ | jq '.analyses.kernels.tables.kernels[0]'
  stepscope report --csv tables/ --rank 0 --step 3-7 runs/exp1/
)",
    .completes = Completes::kFiles,
    .run = run_report,
    .help_about = help_about,
};

}  // namespace stepscope::cli
