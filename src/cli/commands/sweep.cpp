// `stepscope sweep`: its options and help. The Python package tries the settings
// (python/stepscope/sweep), as it is Python programs that are started.
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/output_file.h"
#include "cli/output/page_output.h"
#include "cli/program/program_environment.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "report/writing/json_writer.h"
#include "session/machine.h"

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
    {.name = "from", .help = "the words after it are runs, recorded with watched loaders"},
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

std::string request_json(const Context& context, const report::Look& look) {
  const Arguments& arguments = context.arguments;
  const std::string slurm = process_environment("SLURM_CPUS_PER_TASK").value_or("");
  report::JsonWriter json;
  json.begin_object();
  json.key("words");
  json.begin_list();
  for (const std::string& word : arguments.words()) json.value(word);
  json.end_list();
  json.key("options");
  json.begin_object();
  for (const Option& option : kSweepOptions) {
    if (!arguments.has_option(option.name)) continue;
    json.key(option.name);
    json.begin_list();
    json.value(arguments.text(option.name));
    json.value(arguments.origin(option.name));
    json.end_list();
  }
  json.end_object();
  // The package's own command sets the variable of the option.
  json.member("python", arguments.has_option("python") ? arguments.text("python") : "python3");
  json.member("cpus", session::usable_cpus({.root = "", .slurm_cpus = slurm}));
  json.member("jobs", context.settings.jobs);
  json.member("max_memory", context.settings.max_memory_bytes);
  json.member("width", look.width);
  json.member("colour", look.colour);
  json.member("progress", context.settings.progress);
  json.member("quiet", context.settings.quiet);
  json.end_object();
  return std::move(json).finish();
}

// This process goes on as Python. Signals are as the program found them; returns where no Python
// can be started.
void become_python(const std::string& file, std::string request) {
  sigset_t none;
  ::sigemptyset(&none);
  (void)::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) (void)std::signal(number, SIG_DFL);
  std::string python = process_environment("STEPSCOPE_PACKAGE_PYTHON").value_or("python3");
  std::string path = file;
  std::array<char*, 4> words = {python.data(), path.data(), request.data(), nullptr};
  ::execvp(words[0], words.data());
}

base::Result<std::string> request_from(const Context& context) {
  SCOPE_TRY(check_page_options(context.arguments));
  if (context.arguments.has_option("html")) {
    SCOPE_TRY(
        check_may_hold_page(context.arguments.origin("html"), context.arguments.text("html")));
  }
  SCOPE_TRY(const report::Look look, look_from(context));
  return request_json(context, look);
}

Exit run_sweep(const Context& context) {
  auto request = request_from(context);
  if (!request) return show_error(context, request.error());
  const std::string package = hook_package();
  if (package.empty()) {
    context.console.error(
        "sweep is part of the Python package stepscope, which was found neither beside this "
        "program nor by python3: run the `stepscope` that pip installs, or python -m stepscope "
        "sweep");
    return Exit::kNotReadable;
  }
  become_python(package + "/sweep/__main__.py", *std::move(request));
  context.console.error(fmt::format("sweep needs Python: {}", std::strerror(errno)));
  return Exit::kNotReadable;
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
