// Runs every rule over the answers and puts findings, verdict and reasons together.
#include "advice/advise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "advice/rule.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

// Read by the verdict and by rules that take what there is.
constexpr std::array<std::string_view, 7> kAlways = {"steps",      "overview", "program", "mfu",
                                                     "memory-oom", "loader",   "roofline"};

bool is_of_snapshot(const Rule& rule) {
  return !rule.needs.empty() && rule.needs.front().analysis.starts_with("memory-");
}

bool has_all(const Facts& facts, std::span<const Need> needs) {
  return !needs.empty() && std::ranges::all_of(needs, [&](const Need& need) {
    const base::Table* const table = facts.table(need.analysis, need.table);
    return table != nullptr && table->rows() > 0;
  });
}

// What the recording lacks for this rule; without a reason it can judge.
NotJudged missing_for(const Facts& facts, const Scope& scope, const Rule& rule) {
  // Without device work nothing else matters, and every rule says the same: what it looks for reads
  // as zero, which is no proof that all is well.
  if (rule.of_device && !facts.no_device_work().empty() && !has_all(facts, rule.instead)) {
    if (scope.lost.empty()) return {rule.id, facts.no_device_work(), Wanted::kDeviceWork};
    return {rule.id, "The part of the recording that could be read has no GPU work",
            Wanted::kWhole};
  }
  NotJudged out{rule.id, {}, rule.wanted};
  // The GPU's side is there: recording it again would change nothing.
  if (rule.wanted == Wanted::kDeviceWork) out.wanted = Wanted::kNothing;
  for (const Need& need : rule.needs) {
    const base::Table* table = facts.table(need.analysis, need.table);
    if (table != nullptr && table->rows() > 0) continue;
    const bool stands_in = rule.of_device && !facts.no_device_work().empty();
    if ((table == nullptr || stands_in) && has_all(facts, rule.instead)) return {};
    out.why = facts.remark(need.analysis);
    const bool no_trace = table == nullptr && !is_of_snapshot(rule);
    if (no_trace) out.wanted = Wanted::kTrace;
    if (out.why.empty() && table == nullptr) {
      out.why = no_trace ? "There is no trace" : "No memory snapshot was given";
    }
    if (out.why.empty()) out.why = "There is nothing of the sort in the recording";
    return out;
  }
  if (rule.why_not != nullptr) out.why = rule.why_not(facts);
  return out;
}

NotJudged not_judged(const Facts& facts, const Scope& scope, const Rule& rule) {
  NotJudged out = missing_for(facts, scope, rule);
  if (out.why.ends_with('.')) out.why.pop_back();
  out.record = how_to_record(out.wanted, facts.recorder());
  return out;
}

// "Record again" says how, and commands name what that makes.
void say_how_to_record(const Facts& facts, Finding& finding) {
  constexpr std::string_view kAgain = "Record again";
  constexpr std::string_view kFile = "new.json";
  std::string& text = finding.verify;
  if (text.starts_with(kAgain)) {
    text.insert(kAgain.size(), " (" + std::string(how_to_record_again(facts.recorder())) + ")");
  }
  const std::string_view made = new_recording(facts.recorder());
  if (made == kFile) return;
  for (std::size_t at = text.find(kFile); at != std::string::npos; at = text.find(kFile, at)) {
    text.replace(at, kFile.size(), made);
    at += made.size();
  }
}

// A GPU that computes less than this of the time was recorded beside training, or hardly at all.
constexpr double kBarelyBusy = 0.05;
// One that waits so much of it waits for something, whether or not a rule says for what.
constexpr double kMuchIdle = 0.25;

// Of the GPU that works most; nothing: not known. Without a profiler, where that is known.
std::optional<double> busiest(const Facts& facts) {
  std::optional<double> out;
  for (const Line& line : facts.lines("overview", "devices")) {
    if (!line.has_value("busy_share")) continue;
    double busy = line.number("busy_share");
    for (const RankSteps& rank : facts.ranks()) {
      const auto cost =
          rank.rank == line.whole("rank") ? measured_cost_of_step(facts, rank) : std::nullopt;
      if (cost && rank.step_ns > *cost) busy *= rank.step_ns / (rank.step_ns - *cost);
    }
    out = std::max(out.value_or(0), std::min(1.0, busy));
  }
  return out;
}

// What keeps a run without a warning from being called healthy; empty: nothing.
std::string doubt_of(const Facts& facts, const Scope& scope) {
  if (scope.failed) return "a process of it failed, or how it ended is not known";
  if (scope.left_out_by_guess) return "nothing marks its steps, and these are a guess";
  const auto& ranks = facts.ranks();
  const auto is_one = [](const RankSteps& rank) { return rank.steps < 2; };
  if (!ranks.empty() && std::ranges::all_of(ranks, is_one)) {
    return "one step, or a recording without marks of steps, may be warm-up";
  }
  const auto busy = busiest(facts);
  if (busy && *busy < kBarelyBusy) return "the GPU is hardly ever at work in it";
  if (busy && *busy < 1 - kMuchIdle) {
    return "the GPU is idle more than a quarter of the time, and none of the rules is sure why";
  }
  return {};
}

// Half of the rules that the recording could have served.
bool judged_enough(const Advice& advice) {
  const auto missing = std::ranges::count_if(advice.not_judged, [](const NotJudged& one) {
    return one.wanted != Wanted::kSnapshot && one.wanted != Wanted::kStepscope;
  });
  return advice.judged >= static_cast<std::size_t>(missing);
}

}  // namespace

std::vector<std::string_view> asked_analyses() {
  std::vector<std::string_view> out(kAlways.begin(), kAlways.end());
  for (const Rule* rule : rules()) {
    for (const std::span<const Need> needs : {rule->needs, rule->instead}) {
      for (const Need& need : needs) {
        if (std::ranges::find(out, need.analysis) == out.end()) out.push_back(need.analysis);
      }
    }
    for (const std::string_view read : rule->reads) {
      if (std::ranges::find(out, read) == out.end()) out.push_back(read);
    }
  }
  return out;
}

Advice advise(const Facts& facts, const Scope& scope) {
  Advice out;
  out.recorder = facts.recorder();
  for (const RankSteps& rank : facts.ranks()) {
    out.step_ns = std::max(out.step_ns, static_cast<base::Nanos>(rank.step_ns));
  }
  for (const Rule* rule : rules()) {
    if (!scope.trace && !is_of_snapshot(*rule) && rule != &kMemoryPressure) continue;
    if (NotJudged missing = not_judged(facts, scope, *rule); !missing.why.empty()) {
      out.not_judged.push_back(std::move(missing));
      continue;
    }
    ++out.judged;
    for (Finding& finding : rule->judge(facts)) {
      if (finding.evidence.size() > kMostEvidence) finding.evidence.resize(kMostEvidence);
      // What is said of a step is not sure where the step itself is not.
      if (scope.left_out_by_guess) {
        finding.confidence = std::min(finding.confidence, Confidence::kMedium);
      }
      out.findings.push_back(std::move(finding));
    }
  }
  rank_findings(facts, out);  // it may write another check
  for (Finding& finding : out.findings) say_how_to_record(facts, finding);
  out.doubt = doubt_of(facts, scope);
  out.healthy = scope.lost.empty() && facts.no_device_work().empty() && out.doubt.empty() &&
                judged_enough(out) && std::ranges::none_of(out.findings, [](const Finding& one) {
                  return one.level >= Level::kWarning;
                });
  out.left_out_by_guess = scope.left_out_by_guess;
  out.verdict = verdict(facts, out, scope);
  return out;
}

}  // namespace stepscope::advice
