// `stepscope export`: a run for Chrome, Perfetto or as JSON lines, also redacted.
#include "session/export.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/output/output_file.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"
#include "report/writing/numbers.h"

namespace stepscope::cli {
namespace {

using base::Code;
using base::fail;

constexpr std::array<std::string_view, 3> kExportFormats = {"chrome", "perfetto", "jsonl"};

constexpr std::array kExportOptions = std::to_array<Option>({
    {.name = "to",
     .value = "FORMAT",
     .help = "chrome (trace JSON), perfetto (protobuf) or jsonl (every event as we know it)",
     .choices = kExportFormats},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "where to write: a file, a folder, or - (default) for standard output",
     .completes = Completes::kFiles},
    {.name = "redact", .help = "replace names of files, hosts and users by hashes, for sharing"},
    {.name = "redact-key",
     .value = "KEY",
     .help = "same key, same hashes, in every export (default: random); implies --redact"},
    {.name = "with-counters",
     .help = "add queue lengths, copy rates, utilisation and memory as counters (not for jsonl)"},
    kStepsOption,
});

session::ExportOptions export_options(const Context& context) {
  const Arguments& arguments = context.arguments;
  session::ExportOptions options;
  const std::string format = arguments.text("to");
  options.format = format == "perfetto" ? session::ExportFormat::kPerfetto
                   : format == "jsonl"  ? session::ExportFormat::kJsonl
                                        : session::ExportFormat::kChrome;
  options.redact_key = arguments.text("redact-key");
  options.redact = arguments.has_option("redact") || arguments.has_option("redact-key");
  options.with_counters = arguments.has_option("with-counters");
  options.threads = context.settings.jobs;
  return options;
}

// What the paths and options alone rule out, before anything is read.
base::Status check_output(const Context& context) {
  const std::string format = context.arguments.text("to");
  const std::string output = context.arguments.text("output");
  if (format.empty())
    return fail(Code::kInvalidArgument, "--to is missing: chrome, perfetto or jsonl");
  if (format == "jsonl" && context.arguments.has_option("with-counters")) {
    return fail(Code::kInvalidArgument,
                "jsonl holds what was in the trace and nothing else: --with-counters is for chrome "
                "and perfetto");
  }
  const bool to_stdout = output.empty() || output == "-";
  if (to_stdout && format == "perfetto" && context.console.out_is_terminal()) {
    return fail(Code::kInvalidArgument,
                "perfetto is a binary format and this is a terminal: say -o FILE, or pipe it");
  }
  for (const auto& [ending, program] : {std::pair{".gz", "gzip"}, std::pair{".zst", "zstd"}}) {
    if (output.ends_with(ending)) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: export does not compress: write to - and pipe it: ... | {} > {}",
                              output, program, output));
    }
  }
  return base::Done{};
}

// Where the files of an export go.
struct Destination {
  bool to_stdout = false;
  std::string folder = {};  // with its slash, when there are several files or a folder was named
  std::string file = {};
  bool is_new = false;  // the folder
};

base::Result<Destination> destination_of(const std::string& output, std::size_t files) {
  if (output.empty() || output == "-") {
    if (files == 1) return Destination{.to_stdout = true};
    return fail(Code::kInvalidArgument,
                fmt::format("{} windows make {} files: say -o FOLDER", files, files));
  }
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(output, error);
  if (files == 1 && !is_folder && !output.ends_with('/')) return Destination{.file = output};
  const bool is_new = std::filesystem::create_directories(output, error);
  if (error) return fail(Code::kIo, fmt::format("{}: {}", output, error.message()));
  return Destination{.folder = output.ends_with('/') ? output : output + "/",
                     .is_new = is_new || !is_folder};
}

std::string path_of(const session::Export& what, const Destination& where, std::size_t file) {
  return where.file.empty() ? where.folder + what.file_name(file) : where.file;
}

// The names of several files are ours: one of them may be that of a file which is being read.
base::Status check_files(const Context& context, const session::Export& what,
                         const Destination& where) {
  for (std::size_t i = 0; i < what.files() && !where.to_stdout; ++i) {
    SCOPE_TRY(check_not_an_input(context.arguments.origin("output"), path_of(what, where, i),
                                 context.arguments.words()));
  }
  return base::Done{};
}

// Snapshots of memory have none.
bool has_windows(const trace::Run& run) {
  return std::ranges::any_of(run.ranks, [](const auto& rank) { return !rank.windows.empty(); });
}

class Exporter {
 public:
  Exporter(const Context& context, const session::Export& what, const Destination& where)
      : context_(context), export_(what), where_(where), progress_(context, "writing") {}

  base::Status run() {
    for (std::size_t i = 0; i < export_.files(); ++i) {
      const base::Status written = where_.to_stdout ? to_stdout(i) : to_file(i);
      if (written) continue;
      if (where_.is_new) ::rmdir(where_.folder.c_str());  // where nothing is in it
      return written;
    }
    return base::Done{};
  }

  std::uint64_t without_text = 0, left_out = 0;

 private:
  base::Status to_stdout(std::size_t file) {
    return write(file, [&](std::string_view text) -> base::Status {
      // The reader is gone: stop here. run_export takes it for a quiet end.
      if (context_.interrupt.stopped() || context_.console.out_is_closed()) {
        return fail(Code::kCancelled, "stopped");
      }
      return context_.console.write(text);
    });
  }

  base::Status to_file(std::size_t file) {
    SCOPE_TRY(OutputFile output,
              OutputFile::create(path_of(export_, where_, file), context_.interrupt));
    SCOPE_TRY(write(file, [&](std::string_view text) { return output.write(text); }));
    return output.finish();
  }

  base::Status write(std::size_t file, const std::function<base::Status(std::string_view)>& sink) {
    const auto counting = [&](std::string_view text) {
      progress_.add_bytes(text.size());
      return sink(text);
    };
    SCOPE_TRY(const auto written, export_.write(file, counting));
    without_text += written.without_text;
    left_out += written.left_out;
    return base::Done{};
  }

  const Context& context_;
  const session::Export& export_;
  const Destination& where_;
  Progress progress_;
};

Exit run_export(const Context& context) {
  if (const base::Status checked = check_output(context); !checked) {
    return show_error(context, checked.error());
  }
  Exit status = Exit::kDone;
  const std::optional<TimedRun> opened = open_run(context, status);
  if (!opened) return status;
  if (!has_windows(opened->run)) {
    context.console.error("nothing to export: there is no trace among what was read");
    return Exit::kNotReadable;
  }
  auto prepared = session::Export::prepare(opened->run, export_options(context));
  if (!prepared) return show_error(context, prepared.error());
  const auto where = destination_of(context.arguments.text("output"), prepared->files());
  if (!where) return show_error(context, where.error());
  if (const base::Status free = check_files(context, *prepared, *where); !free) {
    return show_error(context, free.error());
  }

  std::uint64_t without_text = 0;
  std::uint64_t left_out = 0;
  {
    Exporter exporter(context, *prepared, *where);
    const base::Status done = exporter.run();
    if (!done && !context.console.out_is_closed()) return show_error(context, done.error());
    without_text = exporter.without_text;
    left_out = exporter.left_out;
  }
  if (left_out > 0) {
    context.console.note(report::counted(left_out, "event") +
                         " more than a day from the rest left out");
  }
  if (without_text > 0) {
    context.console.note(report::counted(without_text, "event") +
                         " written without the arguments that could not be read again");
  }
  status = finish(context, *opened, Shown::kWithoutLosses);
  return without_text > 0 ? Exit::kDataLost : status;
}

}  // namespace

const Command kExport{
    .name = "export",
    .summary = "write traces for other tools: Chrome's JSON, Perfetto, JSON lines",
    .arguments = "--to FORMAT PATH...",
    .text = R"(Writes what was read in the format of another tool. Chrome's format reads back into
the same tables, one file per rank and window; perfetto and jsonl hold all ranks in
one file. Output to a file appears under its name only when it is complete.

PATH is a trace file, a folder of them, or - for standard input.
)",
    .options = kExportOptions,
    .examples = R"(  stepscope export --to perfetto -o run.perfetto-trace runs/exp1/
  stepscope export --to chrome --redact -o shared/ runs/exp1/
  stepscope export --to chrome trace.json.gz | gzip > copy.json.gz
  stepscope export --to jsonl trace.json | jq -c 'select(.kind == "kernel")'
)",
    .completes = Completes::kFiles,
    .run = run_export,
};

}  // namespace stepscope::cli
