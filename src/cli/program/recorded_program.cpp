// `stepscope run` from start to end: the folder of the run, the program, and what is kept of it.
#include "cli/program/recorded_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/program/child_program.h"
#include "cli/program/launcher.h"
#include "cli/program/program_environment.h"
#include "cli/program/run_place.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "report/page/page.h"
#include "report/writing/numbers.h"
#include "session/config/recording_plan.h"

namespace stepscope::cli {
namespace {

void show_report(const Settings& settings, const std::string& run) {
  // Standard output is the program's, also when it has ended.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  Interrupt interrupt;
  Console console(settings);
  const std::vector<std::string> words = {"--brief", run};
  const auto nothing = [](const std::string&) -> std::optional<std::string> {
    return std::nullopt;
  };
  const auto arguments = parse(words, kReport.options, general_options(), nothing);
  if (arguments) (void)kReport.run({*arguments, settings, console, interrupt});
}

std::string spent(const ProgramEnd& end) {
  return fmt::format("the program ran for {}, with {} of processor time and {} {} of memory",
                     report::duration_text(end.wall_ns), report::duration_text(end.processor_ns),
                     end.peak_bytes ? "at most" : "less than",
                     report::bytes_text(end.peak_bytes.value_or(end.forked_bytes)));
}

// As the user would type it: short where it lies below.
std::string from_here(const std::string& path) {
  std::error_code error;
  const std::string near = std::filesystem::proximate(path, error).string();
  return error || near.empty() || near.starts_with("..") ? path : near;
}

// What stepscope.profile calls the script of a run (stepscope/recording/about.py): a restart that
// trains must find the one that did not.
std::string identity_script(const std::vector<std::string>& words) {
  if (const std::string script = script_among(words); !script.empty()) {
    return std::filesystem::absolute(script).string();
  }
  const std::string module = module_among(words);
  return module.empty() ? module : "-m " + module;
}

}  // namespace

RecordedProgram::RecordedProgram(const Context& context, const session::Config& config)
    : context_(context),
      config_(config),
      words_(context.arguments.words()),
      launcher_(launcher_around()),
      watch_(launcher_),
      package_(hook_package()),
      notes_folder_(make_temporary_folder("stepscope-run")),
      started_(std::filesystem::file_time_type::clock::now()) {
  folder_ = choose_folder();
  own_launch_ = fmt::format("{}{}", ::getpid(), notes_folder_);
}

std::string RecordedProgram::choose_folder() {
  const auto whole = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const std::string chosen = config_.given<std::string>("folder").value_or("");
  if (!chosen.empty()) return whole(chosen);
  std::string folder = whole(new_run_folder(words_, launcher_));
  if (launcher_.has_name()) return folder;  // others of this launch go there, too
  return folder + own_folder_.claim(expanded(folder, launcher_));
}

ProgramEnd RecordedProgram::run() {
  look_at_folder();
  open_stage();
  run_.start_unix_ns =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto begin = [this] {
    if (folder_problem_.empty()) watch_.begin(sampling_hz());
  };
  const Beside beside{.started = begin, .look = [this] { return is_still_alone(); }};
  end_ = run_to_end(words_, environment(), beside);
  watch_.end();
  return end_;
}

void RecordedProgram::tell() {
  notes_ = read_notes(notes_folder_);
  remove_folder(notes_folder_);
  if (end_.start_error != 0) {
    context_.console.error(fmt::format("{}: {}", words_.front(), std::strerror(end_.start_error)));
    return;
  }
  // Under a launcher, the other commands report what they record. Processes on other machines
  // cannot leave notes here.
  if (notes_.runs.empty() && !launcher_.is_there) {
    const std::string folder = expanded(folder_, launcher_);
    notes_.ranks = ranks_since(folder, started_);
    if (!notes_.ranks.empty()) notes_.runs.push_back(folder);
  }
  const bool is_trained = !notes_.runs.empty();
  if (!is_trained) why_ = why_not_recorded();  // before problems of ours stand beside the program's
  keep_end();
  leave_stage();
  if (!is_trained) keep_own();
  show_runs();
  for (const std::string& problem : notes_.problems) context_.console.error(problem);
  if (!is_trained && launcher_.is_first()) {
    context_.console.error(why_.empty() ? "no training was recorded"
                                        : fmt::format("no training was recorded: {}", why_));
    context_.console.note(spent(end_));
  }
  tell_end();
}

// The last line: a report that is longer than the screen hides what the program said.
void RecordedProgram::tell_end() const {
  if (!has_failed(end_)) return;
  const std::string error =
      error_of_program(notes_, end_.process, run_.start_unix_ns + end_.wall_ns);
  const std::string job = process_environment("SLURM_JOB_ID").value_or("");
  context_.console.error(fmt::format(
      "the program {}{}", launcher_.is_there ? fmt::format("of rank {} ", launcher_.rank) : "",
      ending_with_reason(end_, error, job)));
}

std::vector<std::string> RecordedProgram::environment() const {
  if (!can_hook()) return plain_environment();
  std::optional<session::StagePlace> stage;
  if (stage_.is_open()) stage = session::StagePlace{stage_.folder(), host_name()};
  return hooked_environment(
      {.package = package_,
       .notes = notes_folder_,
       .plan = session::in_one_line(session::plan_json(config_, folder_, stage)),
       .launch = launcher_.is_there ? std::string() : own_launch_});
}

bool RecordedProgram::shows_report() const {
  return config_.get<bool>("report") && !context_.settings.quiet;
}

// The machine as the settings want it measured.
double RecordedProgram::sampling_hz() const {
  return config_.get<bool>("system.enabled") ? config_.get<double>("system.rate") : 0;
}

// Until a process of the program says that it records.
bool RecordedProgram::is_still_alone() {
  if (!read_notes(notes_folder_).runs.empty()) {
    watch_.drop();
    return false;
  }
  watch_.look();
  return true;
}

// While there is time to stop it: a training may take days.
void RecordedProgram::look_at_folder() {
  const std::string folder = expanded(folder_, launcher_);
  folder_problem_ = why_not_writable(folder);
  if (!launcher_.is_first()) return;
  warn_of_others(folder);
  if (folder_problem_.empty()) return;
  context_.console.error(
      fmt::format("{} cannot be written ({}): the program runs, and is not recorded; stop it and "
                  "choose another folder with --out to have a run",
                  from_here(folder), folder_problem_));
}

// Scripts alone are compared: what a launcher makes of other words is not known yet.
void RecordedProgram::warn_of_others(const std::string& folder) const {
  const std::string theirs = session::script_in(folder);
  const std::string ours = facts().script;
  if (ours.empty() || !theirs.ends_with(".py") || theirs == ours) return;
  if (config_.given<std::string>("run_id")) return;
  context_.console.error(
      fmt::format("{} holds a run of {}: this one cannot be recorded there; stop it and choose "
                  "another folder with --out to have a run",
                  from_here(folder), from_here(theirs)));
}

void RecordedProgram::open_stage() {
  if (!config_.get<bool>("stage") || !can_hook()) return;
  const base::Status opened = stage_.open(folder_, launcher_);
  if (!opened) {
    stage_problem_ =
        "the run is not staged, but written to its folder at once: " + opened.error().message;
  }
}

void RecordedProgram::leave_stage() {
  if (!stage_problem_.empty()) notes_.problems.push_back(stage_problem_);
  if (!stage_.is_open()) return;
  const StageEnd end = stage_.finish(launcher_.is_first());
  for (const std::string& problem : end.problems) notes_.problems.push_back(problem);
  is_elsewhere_ = end.is_shared;
}

// Into what the program recorded: how it ended, which a process that is killed cannot tell.
void RecordedProgram::keep_end() {
  for (const std::string& rank : notes_.ranks) {
    const base::Status kept = session::add_program_end(facts(), rank);
    if (!kept) notes_.problems.push_back("how it ended is not kept: " + kept.error().message);
  }
}

std::string RecordedProgram::why_not_recorded() const {
  if (!folder_problem_.empty()) return "the folder of the run cannot be written";
  if (package_.empty()) {
    return "the Python package stepscope was found neither beside this program nor by python3";
  }
  if (!can_hook()) return "no temporary folder can be written (TMPDIR)";
  return why_nothing(notes_, words_, has_failed(end_) ? ending_text(end_) : "");
}

// What the command saw of the program, where no process of it recorded more.
void RecordedProgram::keep_own() {
  if (!watch_.is_on()) return;
  const std::string folder = expanded(folder_, launcher_);
  const base::Result<std::string> kept = watch_.keep(facts(), folder);
  if (kept) {
    notes_.runs.push_back(folder);
    notes_.ranks.push_back(*kept);
  } else if (launcher_.is_first()) {
    notes_.problems.push_back("what the machine did is not kept: " + kept.error().message);
  }
}

session::ProgramRun RecordedProgram::facts() const {
  session::ProgramRun run = run_;
  std::error_code error;
  run.command = words_;
  run.with_arguments = config_.get<bool>("arguments");
  run.directory = std::filesystem::current_path(error).string();
  run.host = host_name();
  run.script = identity_script(words_);
  for (const char* name : {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}) {
    if (auto value = process_environment(name)) run.array_task.emplace_back(name, *value);
  }
  run.version = STEPSCOPE_VERSION;
  run.rank = launcher_.rank;
  run.local_rank = launcher_.local_rank;
  run.world_size = launcher_.world_size;
  run.launch = launch_key(launcher_, own_launch_);
  run.tags = config_.get<std::vector<std::string>>("tags");
  run.run_id = config_.given<std::string>("run_id").value_or("");
  run.wall_ns = end_.wall_ns;
  run.processor_ns = end_.processor_ns;
  run.peak_bytes = end_.peak_bytes;
  const bool exited = WIFEXITED(end_.status);
  run.status = exited ? WEXITSTATUS(end_.status) : 128 + WTERMSIG(end_.status);
  run.signal = ending_signal(end_);
  run.why_nothing = why_;
  return run;
}

// Also where no report is shown: they are files.
void RecordedProgram::show_anemoi_reports(const std::string& run) {
  const std::string settings = session::anemoi_json(config_);
  if (settings.empty() || package_.empty()) return;
  const auto text = write_anemoi_reports(run, settings, package_);
  if (!text) {
    context_.console.error("the reports of benchmark_profiler were not written: " +
                           text.error().message);
    return;
  }
  if (shows_report()) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)context_.console.write("\n" + *text);
  }
  context_.console.note(fmt::format("the reports of benchmark_profiler are in {}",
                                    from_here((std::filesystem::path(run) / "profiler").string())));
}

void RecordedProgram::show_runs() {
  if (!launcher_.is_first()) return;
  for (const std::string& run : notes_.runs) {
    const std::string paths[] = {from_here(run)};
    if (is_elsewhere_) {
      context_.console.note(fmt::format(
          "other processes of this node still record; the last of them moves the run to {}",
          paths[0]));
      continue;
    }
    std::error_code error;
    if (!std::filesystem::exists(run, error)) {
      context_.console.error(fmt::format(
          "{} is not there any more: it was removed while the program ran, and the run with it",
          paths[0]));
      continue;
    }
    const std::string shown[] = {shown_path(paths[0])};
    if (shows_report()) show_report(context_.settings, shown[0]);
    show_anemoi_reports(run);
    tell_attempt(paths[0]);
    context_.console.note(fmt::format("the run is in {}; `stepscope report {}` shows {}", shown[0],
                                      report::typed_again(shown),
                                      shows_report() ? "all of it" : "it"));
  }
}

// The last of those that this program made in the run.
std::uint64_t RecordedProgram::own_attempt(const std::string& run) const {
  const std::string whole = std::filesystem::absolute(run).lexically_normal().string();
  std::uint64_t own = 0;
  std::uint64_t any = 0;
  bool is_known = false;
  for (const std::string& rank : notes_.ranks) {
    const std::uint64_t number = attempt_of_rank(rank).value_or(0);
    any = std::max(any, number);
    if (!rank.starts_with(whole + "/")) continue;
    own = std::max(own, number);
    is_known = true;
  }
  return is_known ? own : any;
}

// A folder of several attempts is shown by its last, which is another program's where one was
// started meanwhile: then that of this one by its own folder.
std::string RecordedProgram::shown_path(const std::string& run) const {
  if (notes_.ranks.empty()) return run;
  const std::uint64_t own = own_attempt(run);
  return last_attempt(run).value_or(own) > own ? fmt::format("{}/attempt-{}", run, own) : run;
}

// Counted from 0 in the folder's name, and from 1 by people.
void RecordedProgram::tell_attempt(const std::string& run) const {
  if (notes_.ranks.empty()) return;
  const std::uint64_t number = own_attempt(run);
  if (const std::uint64_t last = last_attempt(run).value_or(number); last > number) {
    context_.console.note(
        fmt::format("another program was started into {0} meanwhile: what it recorded is "
                    "{0}/attempt-{1}, and this is {0}/attempt-{2}",
                    run, last, number));
    return;
  }
  if (number == 0) return;
  context_.console.note(fmt::format("{0} has a run already: this is attempt {1} ({0}/attempt-{2})",
                                    run, number + 1, number));
}

}  // namespace stepscope::cli
