// `stepscope info`: what is in the files of a run.
#include "report/info/info.h"

#include <array>
#include <utility>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/terminal/console.h"
#include "report/info/info_text.h"
#include "session/full_report.h"

namespace stepscope::cli {
namespace {

constexpr std::array kInfoOptions = std::to_array<Option>({
    {.name = "json", .help = "print JSON (schema stepscope.info/1) instead of text"},
    {.name = "all", .help = "list every rank and category, however many there are"},
    kStepsOption,
    {.name = "no-timing", .help = "leave out what differs from run to run: load time, memory"},
});

Exit run_info(const Context& context) {
  Exit status = Exit::kDone;
  const std::optional<TimedRun> opened = open_run(context, status);
  if (!opened) return status;
  std::optional<double> seconds;
  if (!context.arguments.has_option("no-timing")) seconds = opened->seconds;

  const report::RecordedMemory memory = session::memory_of(*opened);
  std::string text;
  if (context.arguments.has_option("json")) {
    text = report::info_json(session::summary_of(*opened), memory, seconds);
  } else {
    report::InfoTextOptions options;
    options.look = context.console.out_look();
    options.all = context.arguments.has_option("all");
    options.load_seconds = seconds;
    // Each memory file says itself what was odd in it.
    const report::RunInfo info = session::summary_without_memory(*opened);
    const bool has_trace = !opened->run.ranks.empty();
    if (has_trace) text = report::info_text(info, options);
    const auto add = [&](const std::string& block) {
      if (!text.empty() && !block.empty()) text += '\n';
      text += block;
    };
    add(report::memory_text(memory, options));
    // A run has more important things to show than what sampled its machine.
    if (!has_trace) {
      add(report::machines_text(info.machines, options));
      text += report::failures_text(info, options);
    }
  }
  if (const base::Status written = context.console.write(text); !written) {
    return show_error(context, written.error());
  }
  return finish(context, *opened, Shown::kWithLosses);
}

}  // namespace

const Command kInfo{
    .name = "info",
    .summary = "what is in these files: ranks, devices, steps, events, oddities",
    .arguments = "PATH...",
    .text = R"(Says what was recorded, where, when and with which versions; how many events of each
category there are and how they are linked; and everything odd that was met while
reading, counted by kind with one example position each.

PATH is a trace (JSON) or a memory snapshot of torch (pickle), also gzip or zstd, all known
by content; a folder of them (one per rank, searched in depth); or - for standard input.
)",
    .options = kInfoOptions,
    .examples = R"(  stepscope info trace.json.gz
  stepscope info runs/exp1/
  stepscope info --json runs/exp1/ | jq '.windows[] | {rank, events}'
  zcat trace.json.gz | stepscope info -
)",
    .completes = Completes::kFiles,
    .run = run_info,
};

}  // namespace stepscope::cli
