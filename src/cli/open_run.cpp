// Opens the paths of a command, with the progress bar, and shows what went wrong.
#include "cli/open_run.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/each_note.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/output_file.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"
#include "report/writing/numbers.h"

namespace stepscope::cli {
namespace {

using base::Code;

session::OpenOptions open_options(const Context& context, Progress& progress) {
  session::OpenOptions options;
  options.threads = context.settings.jobs;
  options.max_memory_bytes = context.settings.max_memory_bytes;
  options.reference_only = context.settings.reference_reader;
  options.block_bytes = context.settings.block_bytes;
  options.step_pattern = context.arguments.text("steps");
  options.stop = context.interrupt.stop_flag();
  if (progress.is_shown()) {
    options.progress = [&progress](const session::Progress& state) {
      report::ProgressState shown;
      shown.bytes_done = state.bytes_done;
      shown.bytes_total = state.bytes_total;
      shown.files_done = state.files_done;
      shown.files_total = state.files_total;
      progress.set(shown);
    };
  }
  return options;
}

// A command must not write over what it reads.
base::Status check_open_run_outputs(const Context& context, std::span<const std::string> paths) {
  const Arguments& arguments = context.arguments;
  std::vector<std::string> inputs(paths.begin(), paths.end());
  for (const char* option : {"peaks", "thresholds"}) {
    if (arguments.has_option(option)) inputs.push_back(arguments.text(option));
  }
  for (const char* option : {"output", "html", "svg"}) {
    if (!arguments.has_option(option)) continue;
    SCOPE_TRY(check_not_an_input(arguments.origin(option), arguments.text(option), inputs));
  }
  for (const char* option : {"html", "svg"}) {
    if (!arguments.has_option(option)) continue;
    SCOPE_TRY(check_may_hold_page(arguments.origin(option), arguments.text(option)));
  }
  return base::Done{};
}

void note_useless_pattern(const Context& context, const trace::Run& run) {
  if (!context.arguments.has_option("steps")) return;
  const std::string text = context.arguments.text("steps");
  const bool is_number =
      !text.empty() && text.find_first_not_of("0123456789,-:") == std::string::npos;
  const bool matches = std::ranges::any_of(run.ranks, [](const trace::RankTraces& rank) {
    return std::ranges::any_of(rank.windows, [](const trace::Window& window) {
      return window.trace.steps().source == trace::StepSource::kPattern;
    });
  });
  if (matches && !is_number) return;
  context.console.note(fmt::format(
      "{} {} '{}'{}",
      matches ? "every annotation is a step whose name matches" : "no annotation matches",
      context.arguments.origin("steps"), text,
      matches ? "" : ": the steps are those that are found without it"));
  if (is_number) {
    const std::string number = text.substr(0, text.find_first_of(",-:"));
    context.console.hint(
        fmt::format("--steps says which annotations are steps; `stepscope analyze --step {0}` "
                    "looks at step {0}",
                    number.empty() ? "3" : number));
  }
}

}  // namespace

Exit show_error(const Context& context, const base::Error& error) {
  if (error.code == Code::kCancelled || context.interrupt.stopped()) {
    context.console.error("stopped");
    return context.interrupt.status();
  }
  context.console.error(error.message);
  return error.code == Code::kInvalidArgument ? Exit::kUsage : Exit::kNotReadable;
}

Exit show_text(const Context& context, std::string_view text) {
  const base::Status shown = context.console.write(text);
  return shown ? Exit::kDone : show_error(context, shown.error());
}

std::optional<TimedRun> open_run(const Context& context, Exit& status, std::size_t skip) {
  std::vector<std::string> paths = context.arguments.words();
  paths.erase(paths.begin(),
              paths.begin() + static_cast<std::ptrdiff_t>(std::min(skip, paths.size())));
  return open_paths(context, status, paths);
}

std::optional<TimedRun> open_paths(const Context& context, Exit& status,
                                   const std::vector<std::string>& paths) {
  if (paths.empty()) {
    context.console.error(
        "no PATH given: a trace file, a memory snapshot, a folder of them, or - for standard "
        "input");
    status = Exit::kUsage;
    return std::nullopt;
  }
  if (std::ranges::find(paths, std::string()) != paths.end()) {
    context.console.error("a PATH is empty: is a variable of the command line not set?");
    status = Exit::kUsage;
    return std::nullopt;
  }
  if (const base::Status fine = check_open_run_outputs(context, paths); !fine) {
    status = show_error(context, fine.error());
    return std::nullopt;
  }
  const auto start = std::chrono::steady_clock::now();
  base::Result<session::OpenedRun> recording = [&] {
    Progress progress(context, "reading");
    return session::open(paths, open_options(context, progress));
  }();
  if (!recording) {
    status = show_error(context, recording.error());
    return std::nullopt;
  }
  const auto took = std::chrono::steady_clock::now() - start;
  note_useless_pattern(context, recording->run);
  return TimedRun{{*std::move(recording)}, std::chrono::duration<double>(took).count()};
}

Exit finish(const Context& context, const session::OpenedRun& recording, Shown shown) {
  const base::ImportLog notes = session::notes_of(recording);
  if (!notes.lost_data()) return Exit::kDone;
  std::string kinds;
  base::for_each_note(notes, base::Severity::kDataLoss,
                      [&](base::Note, const base::NoteInfo& about, const auto& entry) {
                        kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : ", ", about.id,
                                             report::count_text(entry.count));
                      });
  if (shown == Shown::kWithoutLosses || !context.console.out_is_terminal()) {
    const bool is_said = shown != Shown::kWithoutLosses;
    context.console.note(
        fmt::format("data was lost: {}{}", kinds, is_said ? "" : "; `stepscope info` says more"));
  }
  return Exit::kDataLost;
}

}  // namespace stepscope::cli
