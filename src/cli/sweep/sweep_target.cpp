#include "cli/sweep/sweep_target.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/program/group_memory.h"
#include "cli/program/program_environment.h"
#include "cli/program/run_place.h"
#include "cli/sweep/loader_trial.h"
#include "cli/sweep/sweep_choices.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "report/writing/numbers.h"
#include "session/machine.h"

namespace stepscope::cli {
namespace {

using analysis::LoaderSetting;
using analysis::TrialTrouble;

constexpr std::size_t kLinesShown = 6;  // of the user's output
constexpr double kOverS = 0.05;         // of the budget left: it has ended
constexpr double kPatience = 3;         // times the measuring that was asked for
// A trial that takes this many times as long to start as others, and this longer, hangs.
constexpr double kSlowStart = 5, kSlowStartS = 5;

class Deadline {
 public:
  explicit Deadline(double seconds) : budget_(seconds) {}
  double spent() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double left() const { return std::max(0.0, budget_ - spent()); }
  double budget() const { return budget_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
  double budget_;
};

std::string seconds_text(double seconds) {
  return report::duration_text(std::llround(seconds * 1e9));
}

// The same trouble twice, whatever process it was.
bool is_same_trouble(std::string_view one, std::string_view other) {
  const auto without_digits = [](std::string_view text) {
    std::string out;
    std::ranges::copy_if(text, std::back_inserter(out), [](char c) { return c < '0' || c > '9'; });
    return out;
  };
  return without_digits(one) == without_digits(other);
}

// Keywords that the target does not take cannot be varied.
void leave_out_unknown(analysis::LoaderChoices& choices, const std::vector<std::string>& takes,
                       const std::string& target, std::vector<std::string>& said) {
  for (std::size_t i = 0; i < analysis::kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    const std::string name(analysis::info_of(setting).name);
    if (choices[setting].empty() || std::ranges::find(takes, name) != takes.end()) continue;
    choices[setting].clear();
    said.push_back(fmt::format("{0} takes no keyword {1}: {1} was not varied.", target, name));
  }
}

class Sweep {
 public:
  Sweep(const Context& context, const SweepRequest& request, TrialRunner runner)
      : context_(context),
        request_(request),
        runner_(std::move(runner)),
        deadline_(request.budget_s),
        job_(process_environment("SLURM_JOB_ID").value_or("")) {
    const std::string slurm = process_environment("SLURM_CPUS_PER_TASK").value_or("");
    cpus_ = session::usable_cpus({.root = "", .slurm_cpus = slurm});
    out_.scene.cpus = cpus_;
    out_.scene.memory_limit = static_cast<base::Bytes>(runner_.memory_limit_bytes);
    if (const auto shared = shared_memory()) {
      out_.scene.shared_limit = static_cast<base::Bytes>(shared->free_bytes);
    }
  }

  Swept run() {
    race();
    describe();
    context_.console.erase_progress();
    return std::move(out_);
  }

 private:
  void race() {
    choices_ = request_.choices;
    const bool none = std::ranges::all_of(choices_.values, [](const auto& v) { return v.empty(); });
    if (none) choices_[LoaderSetting::kNumWorkers] = usual_workers(cpus_);
    analysis::LoaderRace race(choices_);
    while (!context_.interrupt.stopped()) {
      const auto next = race.next(deadline_.left(), start_s());
      if (!next || !try_one(race, *next)) break;
    }
    out_.tried = race.tried();
    out_.scene.not_tried = race.not_tried();
    out_.scene.out_of_time = race.out_of_time();
    out_.scene.was_stopped = context_.interrupt.stopped();
    if (!out_.failure.empty()) {
      out_.scene.was_given_up = !out_.scene.was_stopped;
      if (!takes_) out_.tried.clear();  // it could not be imported: there is nothing to show
      return;
    }
    if (!analysis::best_setting(out_.tried)) {
      say_nothing_was_measured();
    } else if (!race.is_decided()) {
      out_.scene.said.push_back(out_.scene.was_stopped
                                    ? "Stopped before the race was decided: this is what was known."
                                    : "The budget ended before the race was decided; a longer one "
                                      "(--budget) makes the answer surer.");
    }
  }

  void say_nothing_was_measured() {
    const auto troubled = std::ranges::find_if(out_.tried, [](const analysis::TriedSetting& one) {
      return one.trouble != TrialTrouble::kNone;
    });
    if (troubled != out_.tried.end()) {
      out_.failure = fmt::format("no setting could be measured: {}", troubled->why);
      out_.last_lines = last_lines(runner_.log, kLinesShown);
      return;
    }
    out_.failure = fmt::format(
        "the budget of {} ended before a setting could be measured: starting a trial takes {}; "
        "give more with --budget",
        seconds_text(deadline_.budget()), seconds_text(start_s()));
    out_.tried.clear();
  }

  // What a trial takes beside measuring: the mean of those that were, as a busy machine varies.
  double start_s() const {
    return starts_ > 0 ? starts_sum_s_ / static_cast<double>(starts_) : import_s_;
  }

  // The first trial tells what the target takes. A process that only looked would cost as much as
  // a trial, which is mostly importing.
  void learn_keywords(analysis::LoaderRace& race, const TrialOutcome& outcome) {
    takes_ = outcome.takes;
    const std::size_t said = out_.scene.said.size();
    leave_out_unknown(choices_, *takes_, request_.target, out_.scene.said);
    if (out_.scene.said.size() == said) return;
    // Begun anew with fewer settings, whose first one is what was tried: the others were not taken.
    race = analysis::LoaderRace(choices_);
    (void)race.next(deadline_.budget(), 0);
  }

  TrialLimits limits_for(const analysis::NextTrial& next) const {
    const double left = deadline_.left();
    const double measuring = kPatience * next.seconds;
    if (!takes_) {  // nobody knows how long importing takes
      return {.all_s = left, .first_batch_s = deadline_.budget() / 3, .measuring_s = measuring};
    }
    const double to_start =
        has_batch_ ? kSlowStart * start_s() + kSlowStartS : deadline_.budget() / 3;
    const double usual = std::min(left, to_start + measuring);
    return {.all_s = usual, .first_batch_s = usual, .measuring_s = usual};
  }

  // False: there is no point in going on.
  bool try_one(analysis::LoaderRace& race, const analysis::NextTrial& next) {
    show(fmt::format("trial {}: {}", ++trials_, analysis::keywords_text(race.last().given)));
    TrialOutcome outcome = try_setting(runner_, race.last().given, takes_, next, limits_for(next));
    if (!takes_) {
      if (!outcome.import_s) {
        if (!context_.interrupt.stopped()) fail(outcome);
        return false;
      }
      import_s_ = *outcome.import_s;
      learn_keywords(race, outcome);
    }
    analysis::TriedSetting& tried = race.last();
    tried.told = outcome.told;
    tried.job = job_;
    if (outcome.peak_bytes > 0) {
      tried.peak_bytes = std::max(tried.peak_bytes.value_or(0), outcome.peak_bytes);
    }
    tried.shared_bytes = std::max(tried.shared_bytes.value_or(0), outcome.shared_bytes);
    learn_start(outcome);
    const bool has_blocks = !outcome.trial.blocks.empty();
    has_batch_ = has_batch_ || !outcome.trial.firsts.empty();
    race.take(std::move(outcome.trial));
    // The end of the budget is nobody's fault; what was measured until then counts.
    const bool is_over = deadline_.left() < kOverS || context_.interrupt.stopped();
    if (outcome.was_cut && is_over) {
      if (!has_blocks && outcome.was_silent && !has_batch_) {
        race.take_trouble(TrialTrouble::kFailed, outcome.why);
      }
      return false;
    }
    if (outcome.trouble == TrialTrouble::kNone) return true;
    race.take_trouble(outcome.trouble, outcome.why);
    return goes_on_after(outcome);
  }

  void learn_start(const TrialOutcome& outcome) {
    if (outcome.trouble != TrialTrouble::kNone) return;
    double measured_s = 0;
    for (const analysis::StepBlock& block : outcome.trial.blocks) {
      measured_s += static_cast<double>(block.loading_ns + block.training_ns) / 1e9;
    }
    starts_sum_s_ += outcome.wall_s - measured_s;
    ++starts_;
  }

  bool goes_on_after(const TrialOutcome& outcome) {
    if (outcome.is_wrong || (!has_batch_ && is_same_trouble(outcome.why, last_trouble_))) {
      fail(outcome);
      return false;
    }
    last_trouble_ = outcome.why;
    return true;
  }

  void fail(const TrialOutcome& outcome) {
    out_.failure = outcome.is_wrong && outcome.why.starts_with("returned ")
                       ? fmt::format("{} {}", request_.target, outcome.why)
                       : outcome.why;
    if (outcome.was_cut) out_.failure += ": it hangs, or give more with --budget";
    if (!outcome.is_wrong) out_.last_lines = last_lines(runner_.log, kLinesShown);
  }

  void describe() {
    out_.facts.push_back({"Target", request_.target});
    out_.facts.push_back(
        {"Job", fmt::format("{}; {} of memory for a trial{}", report::counted(cpus_, "CPU"),
                            report::bytes_text(runner_.memory_limit_bytes),
                            out_.scene.shared_limit
                                ? fmt::format("; {} of /dev/shm",
                                              report::bytes_text(static_cast<std::uint64_t>(
                                                  *out_.scene.shared_limit)))
                                : "")});
    const bool is_over = deadline_.spent() > deadline_.budget();
    out_.facts.push_back(
        {"Spent", fmt::format("{} {} {}, in {}{}", seconds_text(deadline_.spent()),
                              is_over ? "for a budget of" : "of", seconds_text(deadline_.budget()),
                              report::counted(trials_, "trial"),
                              is_over ? "; ending the last took the rest" : "")});
  }

  void show(const std::string& what) {
    if (!context_.settings.progress || !context_.console.err_is_terminal()) return;
    context_.console.draw_progress(
        fmt::format("{} ({} left)", what, seconds_text(std::ceil(deadline_.left()))));
  }

  const Context& context_;
  const SweepRequest& request_;
  TrialRunner runner_;
  Deadline deadline_;
  std::string job_;
  unsigned cpus_ = 1;
  analysis::LoaderChoices choices_;
  double import_s_ = 0;      // of the first trial
  double starts_sum_s_ = 0;  // of trials that ended well
  std::uint64_t starts_ = 0, trials_ = 0;
  bool has_batch_ = false;
  std::string last_trouble_ = "none";
  std::optional<std::vector<std::string>> takes_;
  Swept out_;
};

}  // namespace

Swept sweep_target(const Context& context, const SweepRequest& request) {
  Swept nothing;
  const std::string package = hook_package();
  if (package.empty()) {
    nothing.failure =
        "the Python package stepscope was found neither beside this program nor by python3";
    return nothing;
  }
  const std::string folder = make_temporary_folder("stepscope-sweep");
  if (folder.empty()) {
    nothing.failure = "no temporary folder can be written (TMPDIR)";
    return nothing;
  }
  TrialRunner runner;
  // The package's own command sets the variable of the option.
  runner.python =
      context.arguments.has_option("python") ? context.arguments.text("python") : "python3";
  runner.file = package + "/sweeping/__main__.py";
  runner.target = request.target;
  runner.log = folder + "/printed";
  runner.memory_limit_bytes = context.settings.max_memory_bytes;
  runner.stop = context.interrupt.stop_flag();
  Swept out = Sweep(context, request, std::move(runner)).run();
  remove_folder(folder);
  return out;
}

}  // namespace stepscope::cli
