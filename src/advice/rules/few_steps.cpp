// Too few or too different steps to say how long one takes.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "advice/rule.h"
#include "advice/step_time.h"
#include "analysis/compare/series.h"
#include "analysis/compare/student.h"

namespace stepscope::advice {
namespace {

constexpr std::array kFewStepsNeeds = std::to_array<Need>({{"steps", "steps"}});
constexpr std::array<std::string_view, 1> kFewStepsReads = {"stalls"};

// What makes single steps longer and has a rule of its own, which says so: no reason to doubt the
// others. By window and step.
using PlaceOfStep = std::pair<std::int64_t, std::int64_t>;
std::map<PlaceOfStep, double> counted_elsewhere(const Facts& facts, const RankSteps& rank) {
  constexpr std::array<std::string_view, 8> kKinds = {"save",    "pause",   "collector", "search",
                                                      "compile", "inspect", "data",      "update"};
  std::map<PlaceOfStep, double> out;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    if (std::ranges::find(kKinds, line.text("stall")) == kKinds.end()) continue;
    out[{line.whole("window"), line.whole("step")}] +=
        line.number("idle_ns") + line.number("copy_ns");
  }
  return out;
}

// Half the width of the 95 % interval of the typical step, as a share of it.
std::optional<double> error_of(const Facts& facts, const RankSteps& rank) {
  const std::map<PlaceOfStep, double> elsewhere = counted_elsewhere(facts, rank);
  std::vector<double> lengths;
  for (const Line& line : facts.lines("steps", "steps", rank.rank)) {
    const auto found = elsewhere.find({line.whole("window"), line.whole("step")});
    const double other = found == elsewhere.end() ? 0 : found->second;
    lengths.push_back(std::max(0.0, line.number("step_ns") - other));
  }
  if (lengths.size() < 2) return std::nullopt;
  const double typical = analysis::estimate(lengths, analysis::Average::kTypical).value;
  if (typical <= 0) return std::nullopt;
  const double sure = analysis::student_quantile(0.025, static_cast<double>(lengths.size() - 1));
  return sure * std::sqrt(sample_of(lengths).variance_of_mean()) / typical;
}

// The same of the steps that no profiler slowed: how few of a run were traced says nothing about
// how well the length of a step is known. Nothing where there are none, or too few to tell.
std::optional<double> untraced_error_of(const Facts& facts, const RankSteps& rank) {
  constexpr double kEnough = 5;
  const auto others = facts.untraced(rank);
  if (!others || !others->spread || others->steps < kEnough) return std::nullopt;
  return analysis::student_quantile(0.025, others->steps - 1) * *others->spread /
         std::sqrt(others->steps);
}

// The shortest and the longest: what the uncertainty comes from.
void add_ends(Finding& finding, const Facts& facts, const RankSteps& rank) {
  const auto steps = facts.lines("steps", "steps", rank.rank);
  const auto length = [](const Line& line) { return line.number("step_ns"); };
  const auto [shortest, longest] = std::ranges::minmax_element(steps, {}, length);
  for (const auto& step : {shortest, longest}) {
    finding.evidence.push_back(
        {.text = {step == shortest ? "the shortest step: {}" : "the longest step: {}",
                  {nanos(length(*step))}},
         .rank = rank.rank,
         .window = step->whole("window"),
         .step = step->whole("step")});
  }
}

// What is said beside the code goes into a line of its own.
std::string code_of(std::string words) {
  constexpr std::string_view kBeside = ", and ";
  const std::size_t at = words.find(kBeside);
  if (at != std::string::npos) words.replace(at, kBeside.size(), "\n# and ");
  return words;
}

Finding differ_too_much(const Facts& facts, const RankSteps& rank, double error) {
  Finding finding{.rule = kFewSteps.id, .cause = kFewSteps.cause};
  finding.ranks = {rank.rank};
  finding.confidence = Confidence::kHigh;
  finding.title = {"Steps differ too much: the mean of {} that were not traced may be off by {}",
                   {count(facts.untraced(rank)->steps), share(error)}};
  finding.measured = {"95 % confidence interval of the mean step, to each side", error,
                      facts.threshold(kFewSteps.id, "error"), base::Unit::kShare};
  finding.detail = {
      "An improvement that is smaller than this could be chance in a run as short as this one."};
  finding.changes = {
      {"Let the training run for more steps: all of them are recorded, and only a "
       "few need a trace.",
       ""}};
  finding.verify = "Record again: `stepscope diff` of two recordings shows a smaller ±.";
  return finding;
}

std::vector<Finding> judge_few_steps(const Facts& facts) {
  const double most = facts.threshold(kFewSteps.id, "error");
  for (const RankSteps& rank : facts.ranks()) {
    if (const auto of_others = untraced_error_of(facts, rank)) {
      if (*of_others >= most) return {differ_too_much(facts, rank, *of_others)};
      continue;
    }
    const auto error = error_of(facts, rank);
    if (!error || *error < most) continue;
    Finding finding{.rule = kFewSteps.id, .cause = kFewSteps.cause};
    finding.ranks = {rank.rank};
    finding.confidence = Confidence::kHigh;
    const auto steps = count(static_cast<double>(rank.steps));
    constexpr std::int64_t kFew = 10;
    // Of a run of which only some were traced, what is said of the others is not in doubt.
    const bool of_traced = facts.untraced(rank).has_value();
    const std::string begin = rank.steps >= kFew ? "Steps differ too much: "
                              : of_traced        ? "Too few steps were traced: "
                                                 : "Too few steps were recorded: ";
    finding.title = {begin + (of_traced ? "with {} the times of them may be off by {}"
                                        : "with {} the times shown here may be off by {}"),
                     {steps, share(*error)}};
    if (*error >= 1) {
      finding.title = {begin + "{} say hardly anything about the next", {steps}};
    }
    finding.measured = {"95 % confidence interval of the typical step, to each side", *error, most,
                        base::Unit::kShare};
    finding.detail = {
        "What is said about gains holds for these steps. An improvement that is smaller than the "
        "interval below could be chance in a recording as short as this one."};
    add_ends(finding, facts, rank);
    finding.changes = {{of_traced ? "Trace more steps, after the first few."
                                  : "Record more steps, after the first few.",
                        code_of(how_to_record(Wanted::kSteps, facts.recorder()))}};
    finding.verify = "Record again: `stepscope diff` of two recordings shows a smaller ±.";
    return {finding};
  }
  return {};
}

std::string why_not_few_steps(const Facts& facts) {
  const bool several =
      std::ranges::any_of(facts.ranks(), [](const RankSteps& rank) { return rank.steps > 1; });
  return several ? std::string() : "One step cannot tell how much steps differ";
}

}  // namespace

const Rule kFewSteps{
    .id = "few-steps",
    .cause = "recording",
    .asks = "Are there enough steps to conclude anything?",
    .needs = kFewStepsNeeds,
    .wanted = Wanted::kSteps,
    .judge = judge_few_steps,
    .why_not = why_not_few_steps,
    .of_device = false,
    .reads = kFewStepsReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
