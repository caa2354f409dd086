#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/analysis_options.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/open_run.h"
#include "cli/output_file.h"
#include "cli/settings.h"
#include "report/numbers.h"
#include "report/page.h"
#include "report/tables.h"
#include "session/analyze.h"

namespace stepscope::cli {
namespace {

constexpr std::array kOptions = std::to_array<Option>({
    {.name = "html",
     .value = "FILE",
     .help =
         "write one HTML file with charts, which opens without a network; - for standard output",
     .completes = Completes::kFiles},
    {.name = "md", .help = "print Markdown instead of text"},
    {.name = "json", .help = "print JSON (schema stepscope.report/1): every table, full precision"},
    {.name = "device-memory",
     .value = "SIZE",
     .help = "memory of the device, as in 80GiB, where the recording does not tell"},
    {.name = "batch-size", .value = "N", .help = "samples per batch, to tell the bytes of one"},
    kRankOption,
    kWidthOption,
});

base::Result<report::Findings> findings_of(const Context& context,
                                           const session::Recording& recording) {
  SCOPE_TRY(const analysis::Selection chosen, selection_from(context.arguments));
  SCOPE_TRY(const session::Study study,
            session::Study::prepare(recording, chosen, context.settings.jobs));
  report::Findings findings;
  findings.info = report::summarize(recording.run);
  for (const analysis::Analysis* about : analysis::analyses()) {
    if (about->needs != analysis::Needs::kSnapshot) continue;
    // Comparing needs two, and listing every allocation is no summary.
    if (about->name == "memory-diff" && study.view().snapshots.size() < 2) continue;
    if (about->name == "memory-allocations") continue;
    std::map<std::string, std::string> settings;
    for (const std::string_view name : {"device-memory", "batch-size"}) {
      const bool has = std::ranges::find(about->parameters, name, &analysis::Parameter::name) !=
                       about->parameters.end();
      if (has && context.arguments.has(name)) {
        settings[std::string(name)] = context.arguments.text(name);
      }
    }
    SCOPE_TRY(analysis::Answer answer, study.ask(about->name, settings));
    findings.answers.push_back({about, std::move(answer)});
  }
  return findings;
}

std::string paths_of(const Context& context) {
  std::string paths;
  for (const std::string& word : context.arguments.words()) {
    paths += (paths.empty() ? "" : " ") + word;
  }
  return paths;
}

base::Status write_page(const Context& context, const report::Findings& findings,
                        const report::Look& look) {
  const Arguments& arguments = context.arguments;
  if (arguments.has("json")) return context.console.write(report::report_json(findings));
  const report::Page page = report::make_memory_page(findings, paths_of(context));
  if (arguments.has("md")) return context.console.write(report::page_md(page));
  if (!arguments.has("html")) return context.console.write(report::page_text(page, look));
  const std::string path = arguments.text("html");
  const std::string html = report::page_html(page, version_line());
  if (path == "-") return context.console.write(html);
  SCOPE_TRY(write_file(path, html, context.interrupt));
  context.console.note(
      fmt::format("wrote {} ({}): open it in a browser", path, report::bytes_text(html.size())));
  return base::Done{};
}

Exit run_memory(const Context& context) {
  const auto look = look_from(context);
  if (!look) return show_error(context, look.error());
  Exit status = Exit::kDone;
  const std::optional<OpenedRun> opened = open_run(context, status);
  if (!opened) return status;
  if (opened->snapshots.empty()) {
    context.console.error("there is no memory snapshot among these files");
    context.console.hint("torch.cuda.memory._dump_snapshot writes one");
    return Exit::kNotReadable;
  }
  const auto findings = findings_of(context, *opened);
  if (!findings) return show_selection_error(context, findings.error());
  if (const base::Status written = write_page(context, *findings, *look); !written) {
    return show_error(context, written.error());
  }
  if (!session::lost_data(*opened)) return Exit::kDone;
  if (!context.console.out_is_terminal()) note_lost_data(context, *opened);
  return Exit::kDataLost;
}

}  // namespace

const Command kMemory{
    .name = "memory",
    .summary = "GPU memory: who holds it, what leaks, why it ran out and the cheapest way out",
    .arguments = "SNAPSHOT...",
    .text = R"(Tells the story of a memory snapshot of torch: the peak and who holds it, memory over
time by what it holds, what grows from step to step, what is held but not in use, and, where
a request failed, why and what would have made room. Several snapshots are also compared.

SNAPSHOT is a file of torch.cuda.memory._dump_snapshot, plain, gzip or zstd; a trace of the
same process beside it tells the steps.
)",
    .options = kOptions,
    .examples = R"(  stepscope memory snapshot.pickle
  stepscope memory --html memory.html --device-memory 80GiB snapshot.pickle
  stepscope memory rank0.pickle rank1.pickle
)",
    .completes = Completes::kFiles,
    .run = run_memory,
};

}  // namespace stepscope::cli
