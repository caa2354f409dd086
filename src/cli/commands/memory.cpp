// `stepscope memory`: the page about memory snapshots.
#include <array>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/page_output.h"
#include "cli/terminal/console.h"
#include "report/page/page.h"
#include "session/full_report.h"

namespace stepscope::cli {
namespace {

constexpr std::array kMemoryOptions = std::to_array<Option>({
    kHtmlOption,
    kMarkdownOption,
    kReportJsonOption,
    {.name = "device-memory",
     .value = "SIZE",
     .help = "memory of the device, as in 80GiB, where the recording does not tell"},
    {.name = "batch-size", .value = "N", .help = "samples per batch, to tell the bytes of one"},
    {.name = "axis",
     .value = "AXIS",
     .help =
         "curves over events (default), where nothing is hidden by its shortness, or over time"},
    kRankOption,
    kThresholdsOption,
    kWidthOption,
});

struct MemoryRequest {
  report::Look look;
  analysis::Selection selection;
  session::ReportRequest asked{.page = &report::kMemoryPage};
};

// Says what is wrong before a large snapshot is read for nothing.
base::Result<MemoryRequest> memory_request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  MemoryRequest request;
  SCOPE_TRY(request.look, look_from(context));
  SCOPE_TRY(check_page_options(arguments));
  SCOPE_TRY(request.selection, selection_from(arguments));
  SCOPE_TRY(request.asked.settings,
            settings_from(arguments, {"device-memory", "batch-size", "axis"}));
  SCOPE_TRY(request.asked.thresholds, thresholds_from(arguments));
  request.asked.everything = arguments.has_option("json");
  return request;
}

Exit run_memory(const Context& context) {
  const auto request = memory_request_from(context);
  if (!request) return show_error(context, request.error());
  Exit status = Exit::kDone;
  const std::optional<TimedRun> opened = open_run(context, status);
  if (!opened) return status;
  if (opened->snapshots.empty() && opened->timelines.empty() && opened->stats.empty()) {
    context.console.error("there is no memory snapshot among these files");
    context.console.hint("torch.cuda.memory._dump_snapshot writes one");
    return Exit::kNotReadable;
  }
  const auto answers =
      session::full_report(*opened, request->selection, request->asked, context.settings.jobs);
  if (!answers) return show_selection_error(context, answers.error());
  const report::Page page = report::make_memory_page(*answers, context.arguments.words());
  if (const base::Status written = write_page(context, *answers, page, request->look); !written) {
    return show_error(context, written.error());
  }
  return finish(context, *opened, shown_on_stdout(context.arguments));
}

}  // namespace

const Command kMemory{
    .name = "memory",
    .summary = "GPU memory: what holds it, what leaks, why it ran out and the cheapest way out",
    .arguments = "SNAPSHOT...",
    .text =
        R"(Tells the story of a memory snapshot of torch: the peak and what holds it, memory over
time by what it holds, what grows from step to step, what is held but not in use, and, where
a request failed, why and what would have made room. Several snapshots are also compared.

SNAPSHOT is a file of torch.cuda.memory._dump_snapshot, plain, gzip or zstd; a trace of the
same process beside it tells the steps. Timelines of torch.profiler's export_memory_timeline and
figures of torch.cuda.memory_stats, as JSON, are shown too, and the latter compared with a snapshot.
)",
    .options = kMemoryOptions,
    .examples = R"(  stepscope memory snapshot.pickle
  stepscope memory --html memory.html --device-memory 80GiB snapshot.pickle
  stepscope memory rank0.pickle rank1.pickle
)",
    .completes = Completes::kFiles,
    .run = run_memory,
};

}  // namespace stepscope::cli
