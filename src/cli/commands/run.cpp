// `stepscope run`: starts a program, records it and prints the report.
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/options/arguments.h"
#include "cli/program/child_program.h"
#include "cli/program/recorded_program.h"
#include "cli/terminal/console.h"
#include "session/config/config_file.h"
#include "session/config/recording_plan.h"

namespace stepscope::cli {
namespace {

constexpr std::array kRunOptions = std::to_array<Option>({
    {.name = "config",
     .value = "FILE",
     .help = "settings of the recording; `stepscope config` prints one with every key explained",
     .completes = Completes::kFiles},
    {.name = "out",
     .value = "FOLDER",
     .help = "of the run; %j becomes the job, %h the host, %r the rank (default: a new one in "
             "stepscope-runs, named by the program)",
     .completes = Completes::kFolders},
    {.name = "steps",
     .value = "FIRST:STOP",
     .help = "which steps torch's profiler traces: 10:15 is 10 to 14 (default: 11:14)"},
    {.name = "epoch",
     .value = "N[:A-B]",
     .help = "instead: an epoch, or its batches A to B, counted from 0"},
    {.name = "stage",
     .help = "write the run to the disk that TMPDIR names, and move it to its folder at the end"},
    {.name = "no-report", .help = "print no report at the end; the run is kept all the same"},
});

// The file's settings, and over them those of the command line.
base::Result<session::Config> settings_of_run(const Arguments& arguments) {
  session::Config config;
  if (arguments.has_option("config")) {
    SCOPE_TRY(config, session::read_config(arguments.text("config")));
  }
  if (arguments.has_option("steps") && arguments.has_option("epoch")) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{} and {} exclude each other", arguments.origin("steps"),
                                  arguments.origin("epoch")));
  }
  for (const std::string_view name : {"steps", "epoch"}) {
    if (!arguments.has_option(name)) continue;
    const std::string text = arguments.text(name);
    SCOPE_TRY(name == "steps" ? session::parse_steps(text, arguments.origin(name))
                              : session::parse_epoch(text, arguments.origin(name)));
    const auto warmup = config.given<std::int64_t>("window.warmup");
    config.forget("window");
    if (warmup) config.set("window.warmup", *warmup);
    config.set(fmt::format("window.{}", name), text);
  }
  if (arguments.has_option("out")) config.set("folder", arguments.text("out"));
  if (arguments.has_option("stage")) config.set("stage", true);
  if (arguments.has_option("no-report")) config.set("report", false);
  return config;
}

Exit run_program(const Context& context) {
  if (context.arguments.words().empty()) {
    context.console.error("no program given");
    context.console.hint("stepscope run -- python train.py");
    return Exit::kUsage;
  }
  const auto config = settings_of_run(context.arguments);
  if (!config) {
    context.console.errors(config.error().message);
    return Exit::kUsage;
  }
  ProgramEnd end;
  {
    RecordedProgram program(context, *config);
    end = program.run();
    program.tell();
  }
  end_like(end);
}

}  // namespace

const Command kRun{
    .name = "run",
    .summary = "record a training without changing it, and show the report at the end",
    .arguments = "[--] PROGRAM [ARGUMENTS...]",
    .text =
        R"(Starts the program, finds its training loop (optimizer steps and DataLoaders of torch, in any
process that it starts) and records it: every step, what it waited for, and some steps with
torch's profiler. Works with torchrun, srun and mpirun, before or after them. The
program's output, signals and exit status stay as they are; the report goes to standard error.
Of a program that does not train, or is not Python, the machine and the energy are recorded.
)",
    .options = kRunOptions,
    .examples = R"(  stepscope run -- python train.py --lr 0.1
  stepscope run --config stepscope.yaml -- python train.py
  stepscope run --steps 100:105 --out runs/exp1 -- torchrun --nproc-per-node 4 train.py
  srun stepscope run --out runs/%j -- python train.py
)",
    .completes = Completes::kFiles,
    .run = run_program,
    .takes_program = true,
};

}  // namespace stepscope::cli
