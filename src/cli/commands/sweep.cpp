#include "report/compare/sweep.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/output_file.h"
#include "cli/output/page_output.h"
#include "cli/sweep/sweep_choices.h"
#include "cli/sweep/sweep_target.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "session/compare/loader_sweep.h"
#include "session/program/program_run.h"

namespace stepscope::cli {
namespace {

constexpr std::array kSweepOptions = std::to_array<Option>({
    {.name = "num-workers",
     .value = "LIST",
     .help = "numbers of workers to try: 0,2,4-8 (default, if nothing else is varied: 0, 1, 2, 4, "
             "... up to the CPUs of the job)"},
    {.name = "prefetch-factor", .value = "LIST", .help = "batches ahead of each worker: 2,4,8"},
    {.name = "pin-memory", .value = "LIST", .help = "true,false"},
    {.name = "persistent-workers", .value = "LIST", .help = "true,false"},
    {.name = "non-blocking",
     .value = "LIST",
     .help = "true,false: for the copies to the GPU in train_step"},
    {.name = "drop-last", .value = "LIST", .help = "true,false"},
    {.name = "batch-size", .value = "LIST", .help = "samples of a batch: 32,64"},
    {.name = "budget", .value = "TIME", .help = "it takes no longer: 90s, 2m (default), 1h"},
    {.name = "from", .help = "the words behind it are runs, recorded with watched loaders"},
    {.name = "python",
     .value = "FILE",
     .help = "the interpreter that trains (default: that of stepscope, else python3 on PATH)",
     .completes = Completes::kFiles},
    kHtmlOption,
    kMarkdownOption,
    {.name = "json", .help = "print JSON (schema stepscope.sweep/1): every row, full precision"},
    kTablesOption,
    kWidthOption,
});

base::Failure usage(std::string message) {
  return base::fail(base::Code::kInvalidArgument, std::move(message));
}

base::Result<SweepRequest> sweep_request_from(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words();
  if (words.empty() || words.front() != "dataloader") {
    return usage(words.empty() ? "say what to sweep: dataloader"
                               : fmt::format("'{}': only dataloader can be swept", words.front()));
  }
  SCOPE_TRY(check_page_options(arguments));
  if (arguments.has_option("html")) {
    SCOPE_TRY(check_may_hold_page(arguments.origin("html"), arguments.text("html")));
  }
  SweepRequest request;
  SCOPE_TRY(request.choices, choices_from(arguments));
  if (arguments.has_option("budget")) {
    SCOPE_TRY(request.budget_s, seconds_from(arguments.text("budget"), arguments.origin("budget")));
  }
  if (arguments.has_option("from")) {
    if (words.size() < 2) return usage("--from needs runs: folders that stepscope recorded");
    return request;
  }
  if (words.size() != 2) {
    return usage(words.size() < 2 ? "no target given: module:function, or path/to/file.py:function"
                                  : fmt::format("'{}': one target at a time", words[2]));
  }
  request.target = words[1];
  const std::size_t colon = request.target.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == request.target.size()) {
    return usage(
        fmt::format("'{}' is not module:function or path/to/file.py:function", request.target));
  }
  return request;
}

Exit show(const Context& context, const Swept& swept, const report::Look& look) {
  report::Answers answers;
  answers.answers.push_back(
      {&analysis::kLoaderSweep, analysis::loader_sweep(swept.tried, swept.scene)});
  const bool tables = context.arguments.has_option("csv");
  if (tables) {
    if (const base::Status written = write_tables(context, answers); !written) {
      return show_error(context, written.error());
    }
  }
  std::vector<report::NamedText> next = {
      {"stepscope analyze loader RUN", "what the workers of a recorded run spend their time on"}};
  if (!context.arguments.has_option("html")) {
    next.push_back({"stepscope sweep dataloader --html sweep.html …", "this page with a chart"});
  }
  const report::Page page = report::make_sweep_page(answers, swept.facts, std::move(next));
  const base::Status written = write_page(
      context, answers, page, look, tables,
      [](const report::Answers& all) { return report::sweep_json(all.answers.front().answer); });
  if (!written) return show_error(context, written.error());
  // Minutes were spent on the answer: files do not keep it from the terminal.
  if (shown_on_stdout(context.arguments) == Shown::kWithoutLosses) {
    const base::Status printed = context.console.write(report::page_text(page, look));
    if (!printed) return show_error(context, printed.error());
  }
  return Exit::kDone;
}

// Which scripts the runs are of. Those of one name in several folders may be copies of one, as jobs
// make them; under another name it is another training.
struct Scripts {
  std::vector<std::string> lines;  // "runs/a: train.py", of every run that says it
  std::set<std::string> paths, names;

  void add(const std::string& run) {
    const std::string script = session::script_in(run);
    if (script.empty()) return;
    lines.push_back(fmt::format("{}: {}", run, script));
    paths.insert(script);
    names.insert(std::filesystem::path(script).filename().string());
  }
};

Exit sweep_runs(const Context& context, const report::Look& look) {
  Swept swept;
  Exit status = Exit::kDone;
  bool knows_settings = true;
  const std::vector<std::string>& words = context.arguments.words();
  Scripts scripts;
  for (std::size_t i = 1; i < words.size(); ++i) scripts.add(words[i]);
  if (scripts.names.size() > 1) {
    context.console.error(
        "these runs are of different programs, whose loaders cannot be compared; give the runs of "
        "one:");
    for (const std::string& line : scripts.lines) context.console.note(line);
    return Exit::kUsage;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto run = open_paths(context, status, {words[i]});
    if (!run) return status;
    auto job = session::finished_job(*run, words[i], context.settings.jobs);
    if (!job) return show_error(context, job.error());
    const bool has_settings = job->told != analysis::LoaderSettings();
    knows_settings = knows_settings && (has_settings || !job->is_measured());
    swept.tried.push_back(*std::move(job));
    (void)finish(context, *run, Shown::kWithoutLosses);
  }
  if (!knows_settings) {
    swept.scene.said.emplace_back(
        "Some of these runs do not say how their loader was set: they were recorded by an older "
        "stepscope, or the loader is not torch's.");
  }
  if (scripts.paths.size() > 1) {
    swept.scene.said.emplace_back(fmt::format(
        "The script of these runs lies in {} folders: whether it is the same one is not "
        "known ({}).",
        scripts.paths.size(), fmt::join(scripts.lines, "; ")));
  }
  swept.scene.said.emplace_back(
      "Jobs differ in more than their loaders: another node, other data, a busier file system. A "
      "sweep on one node (stepscope sweep dataloader TARGET) compares like with like.");
  swept.facts.push_back({"Runs", fmt::format("{}", words.size() - 1)});
  const Exit shown = show(context, swept, look);
  const bool is_empty = std::ranges::none_of(swept.tried, &analysis::TriedSetting::is_measured);
  if (shown != Exit::kDone || !is_empty) return shown;
  context.console.error(
      "nothing could be measured: none of these runs has steps and a loader that was watched");
  return Exit::kNotReadable;
}

Exit run_sweep(const Context& context) {
  const auto request = sweep_request_from(context.arguments);
  if (!request) {
    const Exit status = show_error(context, request.error());
    if (status == Exit::kUsage) context.console.hint("`stepscope sweep --help` shows examples");
    return status;
  }
  const auto look = look_from(context);
  if (!look) return show_error(context, look.error());
  if (context.arguments.has_option("from")) return sweep_runs(context, *look);
  const Swept swept = sweep_target(context, *request);
  const bool interrupted = context.interrupt.stopped();
  if (!swept.failure.empty() && !interrupted) {
    context.console.error(swept.failure);
    for (const std::string& line : swept.last_lines) context.console.note("printed: " + line);
  }
  if (swept.tried.empty()) return interrupted ? context.interrupt.status() : Exit::kNotReadable;
  const Exit status = show(context, swept, *look);
  if (interrupted) return context.interrupt.status();
  return swept.failure.empty() ? status : Exit::kNotReadable;
}

}  // namespace

const Command kSweep{
    .name = "sweep",
    .summary = "try settings of a DataLoader and say which is fastest, how sure that is",
    .arguments = "dataloader TARGET | dataloader --from RUN...",
    .text =
        R"(TARGET is module:function or path/to/file.py:function. The function takes the settings as
keywords (num_workers, prefetch_factor, pin_memory, persistent_workers, non_blocking,
drop_last, batch_size; those it has) and returns a DataLoader, or a pair (loader, train_step)
where train_step(batch) does what the training does with a batch.

Every trial is a process of its own: one that crashes, hangs or needs too much memory is a row
of the table. Settings that lose are given up early, the others are tried again, longer. It
ends within the budget; Ctrl-C prints what is known so far.

With --from the same table is made of finished jobs: runs whose loaders were watched.
)",
    .options = kSweepOptions,
    .examples = R"(  stepscope sweep dataloader train:make_loader
  stepscope sweep dataloader data/imagenet.py:loader --num-workers 4,8,16 --prefetch-factor 2,4
  stepscope sweep dataloader train:make_loader --pin-memory true,false --budget 10m --html s.html
  stepscope sweep dataloader --from runs/1041 runs/1042 runs/1043
)",
    .completes = Completes::kFiles,
    .run = run_sweep,
};

}  // namespace stepscope::cli
