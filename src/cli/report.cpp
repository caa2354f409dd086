#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/advice_options.h"
#include "cli/analysis_options.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/open_run.h"
#include "cli/output_file.h"
#include "cli/page_output.h"
#include "cli/settings.h"
#include "report/glossary.h"
#include "report/info_text.h"
#include "report/numbers.h"
#include "report/page.h"
#include "report/tables.h"
#include "session/full_report.h"

namespace stepscope::cli {
namespace {

using base::Code;
using base::fail;

constexpr std::array kOptions = std::to_array<Option>({
    kHtmlOption,
    kMarkdownOption,
    kReportJsonOption,
    {.name = "csv",
     .value = "DIR",
     .help = "write every table to this folder as ANALYSIS.TABLE.csv",
     .completes = Completes::kFiles},
    kRankOption,
    kStepOption,
    kStepsOption,
    kPeaksOption,
    kThresholdsOption,
    kWidthOption,
    {.name = "glossary", .help = "explain the words of the report, and read nothing"},
});

base::Result<report::Answers> findings_of(const Context& context,
                                          const session::Recording& recording) {
  SCOPE_TRY(const analysis::Selection chosen, selection_from(context.arguments));
  const bool everything = context.arguments.has("json") || context.arguments.has("csv");
  session::ReportRequest request{.everything = everything};
  SCOPE_TRY(request.thresholds, thresholds_from(context.arguments));
  return session::full_report(recording, chosen, request, context.settings.jobs);
}

base::Status write_tables(const Context& context, const report::Answers& findings) {
  const std::string folder = context.arguments.text("csv");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::kIo, fmt::format("{}: {}", folder, error.message()));
  std::size_t files = 0;
  for (const report::Answered& finding : findings.answers) {
    for (const base::Table& table : finding.answer.tables) {
      const std::string path =
          fmt::format("{}/{}.{}.csv", folder, finding.about->name, table.name());
      SCOPE_TRY(write_file(path, report::table_csv(table), context.interrupt));
      ++files;
    }
  }
  context.console.note(fmt::format("wrote {} to {}", report::counted(files, "file"), folder));
  return base::Done{};
}

base::Status write_report(const Context& context, const report::Answers& findings,
                          const report::Look& look) {
  const bool tables = context.arguments.has("csv");
  if (tables) SCOPE_TRY(write_tables(context, findings));
  return write_page(context, findings, report::make_page(findings), look, tables);
}

// Says what is wrong before a large run is read for nothing.
base::Status check_usage(const Arguments& arguments) {
  SCOPE_TRY(check_page_options(arguments));
  SCOPE_TRY(selection_from(arguments));
  SCOPE_TRY(thresholds_from(arguments));
  return base::Done{};
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
  const auto look = look_from(context);
  if (!look) return show_error(context, look.error());
  if (context.arguments.has("glossary")) {
    (void)context.console.write(report::glossary_text(*look));
    return Exit::kDone;
  }
  if (const base::Status checked = check_usage(context.arguments); !checked) {
    return show_error(context, checked.error());
  }
  Exit status = Exit::kDone;
  const std::optional<OpenedRun> opened = open_run(context, status);
  if (!opened) return status;
  if (opened->run.ranks.empty()) return show_snapshots(context, *opened, *look);
  const auto findings = findings_of(context, *opened);
  if (!findings) return show_selection_error(context, findings.error());
  if (const base::Status written = write_report(context, *findings, *look); !written) {
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
change about it (more by `stepscope advise`), where the step time goes, step times and outliers, kernels, idle time, communication, data loading, transfers;
what was odd in the files; and which command to run next.

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
