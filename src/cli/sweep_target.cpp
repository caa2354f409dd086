#include "cli/sweep_target.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/group_memory.h"
#include "cli/hook_folder.h"
#include "cli/interrupt.h"
#include "cli/loader_trial.h"
#include "cli/settings.h"
#include "cli/sweep_choices.h"
#include "cli/temporary_folder.h"
#include "report/numbers.h"
#include "session/machine.h"

namespace stepscope::cli {
namespace {

using analysis::LoaderSetting;
using analysis::TrialTrouble;

constexpr std::size_t kLinesShown = 6;  // of the user's output

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
    if (look()) race();
    describe();
    context_.console.erase_progress();
    return std::move(out_);
  }

 private:
  bool look() {
    show("importing the target");
    const TrialOutcome looked = look_at_target(runner_, deadline_.left());
    start_s_ = looked.wall_s;
    if (looked.trouble != TrialTrouble::kNone) {
      fail(looked);
      return false;
    }
    takes_ = looked.takes;
    return true;
  }

  void race() {
    analysis::LoaderChoices choices = request_.choices;
    const bool none = std::ranges::all_of(choices.values, [](const auto& v) { return v.empty(); });
    if (none) choices[LoaderSetting::kNumWorkers] = usual_workers(cpus_);
    leave_out_unknown(choices, takes_, request_.target, out_.scene.said);
    analysis::LoaderRace race(choices);
    while (!context_.interrupt.stopped()) {
      const auto next = race.next(deadline_.left(), start_s_);
      if (!next || !try_one(race, *next)) break;
    }
    out_.tried = race.tried();
    out_.scene.not_tried = race.not_tried();
    std::erase_if(out_.tried, [](const analysis::TriedSetting& one) {
      return !one.is_measured() && one.trouble == TrialTrouble::kNone;
    });
    if (!out_.failure.empty()) return;
    const bool measured = analysis::best_setting(out_.tried).has_value();
    if (!measured && out_.tried.empty()) {
      out_.failure = fmt::format(
          "the budget of {} ended before a setting could be measured: starting a trial takes {}; "
          "give more with --budget",
          seconds_text(deadline_.budget()), seconds_text(start_s_));
    } else if (!measured) {
      out_.failure = fmt::format("no setting could be measured: {}", out_.tried.front().why);
      out_.last_lines = last_lines(runner_.log, kLinesShown);
    } else if (!race.is_decided()) {
      out_.scene.said.push_back(context_.interrupt.stopped()
                                    ? "Stopped before the race was decided: this is what was known."
                                    : "The budget ended before the race was decided; a longer one "
                                      "(--budget) makes the answer surer.");
    }
  }

  // False: there is no point in going on.
  bool try_one(analysis::LoaderRace& race, const analysis::NextTrial& next) {
    const analysis::LoaderSettings given = race.last().given;
    show(fmt::format("trial {}: {}", ++trials_, analysis::keywords_text(given)));
    const double left = deadline_.left();
    const double to_start = has_batch_ ? 5 * start_s_ + 5 : deadline_.budget() / 3;
    const double usual = to_start + 3 * next.seconds;
    const double limit = std::min(left, usual);
    TrialOutcome outcome = try_setting(runner_, given, takes_, next, limit);
    analysis::TriedSetting& tried = race.last();
    tried.told = outcome.told;
    tried.job = job_;
    if (outcome.peak_bytes > 0) {
      tried.peak_bytes = std::max(tried.peak_bytes.value_or(0), outcome.peak_bytes);
    }
    tried.shared_bytes = std::max(tried.shared_bytes.value_or(0), outcome.shared_bytes);
    double measured_s = 0;
    for (const analysis::StepBlock& block : outcome.trial.blocks) {
      measured_s += static_cast<double>(block.loading_ns + block.training_ns) / 1e9;
    }
    const bool has_blocks = !outcome.trial.blocks.empty();
    if (outcome.trouble == TrialTrouble::kNone) {
      start_s_ = std::max(start_s_, outcome.wall_s - measured_s);
    }
    has_batch_ = has_batch_ || !outcome.trial.firsts.empty();
    race.take(std::move(outcome.trial));
    // The end of the budget is nobody's fault; what was measured until then counts.
    const bool ran_out = outcome.was_cut && (limit >= left || context_.interrupt.stopped());
    if (ran_out) {
      if (!has_blocks && outcome.was_silent && !has_batch_) {
        race.take_trouble(TrialTrouble::kFailed, outcome.why);
      }
      return false;
    }
    if (outcome.trouble == TrialTrouble::kNone) return true;
    race.take_trouble(outcome.trouble, outcome.why);
    return goes_on_after(outcome);
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
    out_.facts.push_back({"Spent", fmt::format("{} of {}, in {}", seconds_text(deadline_.spent()),
                                               seconds_text(deadline_.budget()),
                                               report::counted(trials_, "trial"))});
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
  double start_s_ = 0;
  std::uint64_t trials_ = 0;
  bool has_batch_ = false;
  std::string last_trouble_ = "none";
  std::vector<std::string> takes_;
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
  runner.python = context.arguments.has("python") ? context.arguments.text("python") : "python3";
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
