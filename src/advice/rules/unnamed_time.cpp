// A training on the CPU spends its step in code that nothing names: no operator, no range, no
// loader. Beside a GPU the waits themselves are known, and host-pause and launch-bound judge them.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "advice/cpu_step.h"
#include "advice/host_stall.h"
#include "advice/job_processors.h"
#include "advice/rule.h"
#include "analysis/compare/series.h"

namespace stepscope::advice {
namespace {

constexpr std::array kUnnamedTimeNeeds =
    std::to_array<Need>({{"steps", "times"}, {"steps", "steps"}});
constexpr std::array<std::string_view, 4> kUnnamedTimeReads = {"stalls", "system", "loop",
                                                               "throughput"};

// One step. What Python's garbage collector took of it has a rule of its own.
struct Step {
  std::int64_t window = 0, step = 0;
  double step_ns = 0;
  double collected_ns = 0;
  double other_ns = 0;  // without a name, less that
};

std::vector<Step> unnamed_time_steps_of(const Facts& facts, const RankSteps& rank) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> collected;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    if (line.text("stall") != "collector") continue;
    collected[{line.whole("window"), line.whole("step")}] += line.number("host_ns");
  }
  std::vector<Step> out;
  for (const Line& line : facts.lines("steps", "steps", rank.rank)) {
    Step step{line.whole("window"), line.whole("step"), line.number("step_ns")};
    const auto found = collected.find({step.window, step.step});
    if (found != collected.end()) step.collected_ns = found->second;
    step.other_ns = std::max(0.0, line.number("other_ns") - step.collected_ns);
    out.push_back(step);
  }
  return out;
}

// One step in which a profiler began is no measure.
double median_of(const std::vector<Step>& steps, double Step::* part) {
  if (steps.empty()) return 0;
  std::vector<double> values;
  values.reserve(steps.size());
  for (const Step& step : steps) values.push_back(step.*part);
  return analysis::median_of(std::move(values));
}

// Time without a name, less what tracing adds between operators.
double all_unnamed_of(const Facts& facts, const RankSteps& rank) {
  const double usual = median_of(unnamed_time_steps_of(facts, rank), &Step::other_ns);
  double traced = 0;
  for (const Line& line : facts.lines("loop", "parts", rank.rank)) {
    if (line.text("part") == "Python") traced = line.number("mean_ns");
  }
  return std::max(0.0, usual - std::max(0.0, traced - loop_part(facts, rank, "Python").ns));
}

// Time in which the thread had no processor has a rule of its own, too.
double waited_of(const Facts& facts, const RankSteps& rank) {
  return starved_in(facts, rank, all_unnamed_of(facts, rank));
}

double unnamed_of(const Facts& facts, const RankSteps& rank) {
  return std::max(0.0, all_unnamed_of(facts, rank) - waited_of(facts, rank));
}

// Stretches too long for Python on its way to the next operator: the loop stands still.
double surely_still_ns(const Facts& facts, const RankSteps& rank, double unnamed) {
  const LoopPart pauses = loop_part(facts, rank, "pauses");
  const double often = cpu_step_ns(facts, rank) * facts.threshold(kUnnamedTime.id, "pause");
  if (pauses.longest_ns < often) return 0;
  return kHidden * std::clamp(pauses.ns - waited_of(facts, rank), 0.0, unnamed);
}

// Python's functions that were seen in it, where stacks were recorded.
std::vector<std::string> functions_of(const Facts& facts, const RankSteps& rank) {
  constexpr double kMuch = 0.02;
  std::vector<std::string> out;
  for (const Line& line : facts.lines("loop", "functions", rank.rank)) {
    if (line.number("share") < kMuch || out.size() == kMostEvidence) break;
    out.emplace_back(line.text("function"));
  }
  return out;
}

// The steps with the most of it, to look at.
void add_unnamed_time_steps(Finding& finding, const Facts& facts, const RankSteps& rank) {
  std::vector<Step> steps = unnamed_time_steps_of(facts, rank);
  std::ranges::stable_sort(steps, std::ranges::greater{}, &Step::other_ns);
  for (const Step& step : steps) {
    if (finding.evidence.size() == kMostEvidence) break;
    if (step.other_ns <= 0) continue;
    finding.evidence.push_back(
        {.text = {"{} of {} without a name", {nanos(step.other_ns), nanos(step.step_ns)}},
         .rank = rank.rank,
         .window = step.window,
         .step = step.step});
  }
}

std::vector<Change> unnamed_time_changes_for(const Facts& facts, bool has_stacks) {
  const bool own = facts.recorder() != Recorder::kTorchProfiler;
  const std::string range = own ? "stepscope.range" : "torch.profiler.record_function";
  if (has_stacks) {
    return {{"Do it more rarely, or hand the work to a thread or process of its own.",
             "if step % 100 == 0: ..."},
            {"Let every line of the function be timed.",
             "@stepscope.lines(memory=False)\ndef train_one_epoch(...):\n    ...\n"
             "print(stepscope.lines_report(\"train_one_epoch\"))"}};
  }
  return {{"Put names on the parts of the loop, and record again: `stepscope report` then shows "
           "each with its time.",
           "with " + range + "(\"logging\"):\n    log(metrics)\nwith " + range +
               "(\"metrics\"):\n    update(metrics, outputs)"},
          {"Let every line of the function that holds the loop be timed.",
           "@stepscope.lines(memory=False)\ndef train_one_epoch(...):\n    ...\n"
           "print(stepscope.lines_report(\"train_one_epoch\"))"},
          {"Record Python's stacks, which name functions by themselves.",
           how_to_record(Wanted::kStacks, facts.recorder())}};
}

std::vector<Finding> judge_unnamed_time(const Facts& facts) {
  if (facts.no_device_work().empty()) return {};
  const auto ranks = worst_ranks(facts, kUnnamedTime.id, [&](const RankSteps& rank) {
    return unnamed_of(facts, rank) / own_step_ns(facts, rank) * rank.step_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double unnamed = unnamed_of(facts, rank);
  const double still = trains_on_cpu(facts) ? surely_still_ns(facts, rank, unnamed) : 0;
  Finding finding = begin_finding(facts, kUnnamedTime, ranks, 0, 0);
  set_cpu_gain(facts, rank, finding, still, unnamed);
  finding.level = std::min(finding.level, Level::kWarning);  // what it is, is not known
  finding.measured.threshold = facts.threshold_of(kUnnamedTime.id, finding.level);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"{} of each step passes in code that has no name in the recording",
                   {share(std::min(1.0, unnamed / cpu_step_ns(facts, rank)))}};
  finding.measured.value = std::min(1.0, unnamed / cpu_step_ns(facts, rank));
  finding.measured.name = "no operator, no named range and no wait for data, of the step";
  finding.detail = {
      "{} per step lie outside the forward pass, the backward pass, the optimizer and the data "
      "loader: no operator of PyTorch runs then, and no range was named. It is Python code of the "
      "loop itself: logging, printing, writing files, metrics in NumPy, sleeping, waiting for "
      "another process; or, where a model is very small, Python's own cost between operators.",
      {nanos(unnamed)}};
  const std::vector<std::string> functions = functions_of(facts, rank);
  if (!functions.empty()) {
    finding.title.form = "{} of each step passes in Python, most of it in {}";
    finding.title.figures.emplace_back(std::string_view(functions.front()));
    finding.detail.form += " The recorded stacks name the function that takes longest: {}.";
    finding.detail.figures.emplace_back(std::string_view(functions.front()));
  }
  if (still > 0) {
    finding.detail.form += " {} of it pass in stretches of more than 0.1 ms, up to {} at a time.";
    finding.detail.figures.push_back(nanos(loop_part(facts, rank, "pauses").ns));
    finding.detail.figures.push_back(nanos(loop_part(facts, rank, "pauses").longest_ns));
  }
  const double collected = median_of(unnamed_time_steps_of(facts, rank), &Step::collected_ns);
  if (collected > kNoise * rank.median_ns) {
    finding.detail.form += " In {} more Python's garbage collector ran: that is not counted here.";
    finding.detail.figures.push_back(nanos(collected));
  }
  if (const double waited = waited_of(facts, rank); waited > kNoise * rank.median_ns) {
    finding.detail.form +=
        " In {} more the thread was ready and had no processor: that is not counted here, but in "
        "the times of single steps below.";
    finding.detail.figures.push_back(nanos(waited));
  }
  add_unnamed_time_steps(finding, facts, rank);
  finding.changes = unnamed_time_changes_for(facts, !functions.empty());
  finding.verify =
      "Record again: `stepscope analyze steps --table parts new.json` shows less under 'other'.";
  return {finding};
}

std::string why_not_unnamed_time(const Facts& facts) {
  const bool several =
      std::ranges::any_of(facts.ranks(), [](const RankSteps& rank) { return rank.steps > 1; });
  return several ? std::string() : "One step, or none that is marked, may be warm-up";
}

}  // namespace

const Rule kUnnamedTime{
    .id = "unnamed-time",
    .cause = "pause",
    .asks = "Does the step pass in code that nothing names?",
    .needs = kUnnamedTimeNeeds,
    .wanted = Wanted::kSteps,
    .judge = judge_unnamed_time,
    .why_not = why_not_unnamed_time,
    .of_device = false,
    .reads = kUnnamedTimeReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
