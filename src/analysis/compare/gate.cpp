// Judges limits: whether a run is worse than it was by more than is allowed.
#include "analysis/compare/gate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace stepscope::analysis {
namespace {

struct Estimates {
  std::vector<Estimate> runs;
  bool per_step = false;
};

Estimate turned(Estimate one, const GateLimit& limit) {
  if (limit.inverted && one.value > 0) {
    constexpr double kSecond = 1e9;
    const double slope = kSecond / (one.value * one.value);
    one.variance *= slope * slope;
    one.value = kSecond / one.value;
  }
  one.value *= limit.factor;
  one.variance *= limit.factor * limit.factor;
  return one;
}

const Sample* sample_of(const RunSamples& run, const std::string& name) {
  const auto found = run.samples.find(name);
  const bool there = found != run.samples.end() && !found->second.values.empty();
  return there ? &found->second : nullptr;
}

bool is_of_steps(const GateLimit& limit) { return limit.sample == sample::kStepTime; }

Estimates estimates_of(const GateLimit& limit, std::span<const RunSamples> runs, StepKind steps) {
  Estimates out;
  for (const RunSamples& run : runs) {
    const Sample* found = is_of_steps(limit) ? steps_of(run, steps) : sample_of(run, limit.sample);
    if (found == nullptr) continue;
    out.per_step = out.per_step || found->per_step;
    out.runs.push_back(turned(estimate(found->values, limit.average), limit));
  }
  return out;
}

// How much worse than the line it is, in the direction that counts.
double worse(const GateLimit& limit, double difference) {
  return limit.less_is_worse ? -difference : difference;
}

double allowed_of(const GateLimit& limit, double before) {
  double allowed = std::numeric_limits<double>::infinity();
  if (limit.worse_share) allowed = std::min(allowed, *limit.worse_share * std::abs(before));
  if (limit.worse_by) allowed = std::min(allowed, *limit.worse_by);
  return allowed;
}

std::string few_steps(const Difference& change) {
  const bool before = change.steps_before < 2 && change.runs_before < 2;
  const bool after = change.steps_after < 2 && change.runs_after < 2;
  return std::string(before && after ? "both sides have one step"
                     : before        ? "the baseline has one step"
                                     : "the run has one step") +
         ", so it is not known how much steps differ by themselves";
}

// The outcome of the change alone.
Outcome outcome_of_change(Judged& judged, bool per_step) {
  const GateLimit& limit = judged.limit;
  const Difference& change = judged.change;
  const double allowed = judged.allowed = allowed_of(limit, change.before);
  if (!per_step) {  // a figure of the whole run is compared as it is
    const double by = worse(limit, change.difference());
    // What is allowed is what it may differ by itself, in either direction.
    const double surely = is_measured(limit.unit) ? allowed : 0;
    return by > allowed ? Outcome::kFailed : by < -surely ? Outcome::kBetter : Outcome::kPassed;
  }
  if (!change.bounds) {
    judged.why = few_steps(change);
    return Outcome::kUnsure;
  }
  const double least = limit.less_is_worse ? -change.bounds->high : change.bounds->low;
  const double most = limit.less_is_worse ? -change.bounds->low : change.bounds->high;
  if (least > allowed) return Outcome::kFailed;
  if (most < 0) return Outcome::kBetter;
  return change.enough ? Outcome::kUnsure : Outcome::kPassed;
}

// What the bound makes of the run, whatever it was before.
void hold_against_bound(Judged& judged, const Estimates& after, const Certainty& certainty) {
  const GateLimit& limit = judged.limit;
  const Difference beyond = against(*limit.bound, after.runs, certainty);
  const double by = worse(limit, beyond.difference());
  bool surely = by > 0;
  bool surely_not = by <= 0;  // a figure of the whole run is compared as it is
  if (after.per_step && beyond.bounds) {
    const double least = limit.less_is_worse ? -beyond.bounds->high : beyond.bounds->low;
    const double most = limit.less_is_worse ? -beyond.bounds->low : beyond.bounds->high;
    surely = least > 0;
    surely_not = most < 0;
  } else if (after.per_step) {
    surely = false;
  }
  if (surely) {
    judged.outcome = Outcome::kFailed;
    judged.beyond_bound = true;
  } else if (!surely_not && beyond.enough && judged.outcome != Outcome::kFailed) {
    judged.outcome = Outcome::kUnsure;
    judged.near_bound = true;
    judged.change.enough = beyond.enough;
    judged.change.smallest_seen = beyond.smallest_seen;
  }
}

// Which rank a figure is of: "of rank 1, where it is largest", and which it was.
std::string rank_remark(const GateLimit& limit, std::span<const RunSamples> before,
                        std::span<const RunSamples> after) {
  const auto rank_in = [&](std::span<const RunSamples> runs) -> std::optional<std::int64_t> {
    if (runs.size() != 1) return std::nullopt;
    const Sample* found = sample_of(runs.front(), limit.sample);
    return found == nullptr ? std::nullopt : found->rank;
  };
  const auto is = rank_in(after);
  if (!is) return {};
  std::string out = "of rank " + std::to_string(*is) + ", where it is largest";
  if (const auto was = rank_in(before); was && *was != *is) {
    out += "; it was of rank " + std::to_string(*was);
  }
  return out;
}

Judged judge_one(const GateLimit& limit, const GateRules& rules, std::span<const RunSamples> before,
                 std::span<const RunSamples> after) {
  Judged out{.limit = limit, .change = {}, .why = {}};
  const bool wants_before = limit.worse_share || limit.worse_by;
  const StepChoice choice = wants_before ? choose_steps(before, after) : choose_steps({}, after);
  const Estimates was = estimates_of(limit, before, choice.kind);
  const Estimates is = estimates_of(limit, after, choice.kind);
  if (is.runs.empty()) {
    out.why = "the run has no figures for it";
    return out;
  }
  if (wants_before && was.runs.empty() && !limit.bound) {
    out.why = before.empty() ? "there is no baseline to compare with"
                             : "the baseline has no figures for it";
    return out;
  }
  const bool per_step = is.per_step;
  out.as_it_is = !per_step;
  Certainty certainty{.tail = rules.tail,
                      .spread = rules.spread.value_or(spread_of(limit.average)),
                      .worth_seeing = rules.worth_seeing.value_or(
                          limit.average == Average::kTypical ? 0.05 : 0.10)};
  // A limit that allows more does not ask to see less.
  if (limit.worse_share) {
    certainty.worth_seeing = std::max(certainty.worth_seeing, *limit.worse_share);
  } else if (limit.worse_by && *limit.worse_by > 0) {
    certainty.worth_amount = limit.worse_by;
  }
  out.outcome = Outcome::kPassed;
  out.change.after = compare(is.runs, is.runs, certainty).after;
  if (wants_before && !was.runs.empty()) {
    out.has_before = true;
    out.change = compare(was.runs, is.runs, certainty);
    out.outcome = outcome_of_change(out, per_step);
    if (is_of_steps(limit)) out.remark = choice.remark;
    if (is_of_steps(limit) && choice.kind == StepKind::kUntold) {
      out.outcome = Outcome::kUnsure;
      out.why = std::exchange(out.remark, {});
      out.change.enough = needed(was.runs, is.runs, certainty);
    }
  }
  if (limit.bound) hold_against_bound(out, is, certainty);
  if (out.remark.empty()) {
    out.remark = rank_remark(limit, out.has_before ? before : std::span<const RunSamples>(), after);
  }
  return out;
}

Judged about_run(std::string_view name, std::string why) {
  return {.limit = {.name = std::string(name), .sample = {}},
          .outcome = Outcome::kFailed,
          .change = {},
          .why = std::move(why),
          .about_run = true};
}

// Limits that say nothing of a run without steps.
std::string limits_of_steps(const GateRules& rules) {
  std::string out;
  for (const GateLimit& limit : rules.limits) {
    if (is_of_steps(limit)) out += (out.empty() ? "" : ", ") + limit.name;
  }
  return out;
}

bool has_gate_steps(const RunSamples& run) {
  return sample_of(run, std::string(sample::kStepTime)) != nullptr;
}

}  // namespace

std::string_view name_of(StepKind kind) {
  static constexpr std::array<std::string_view, 3> kNames = {"untold", "untraced", "traced"};
  return kNames[static_cast<std::size_t>(kind)];
}

const Sample* steps_of(const RunSamples& run, StepKind chosen) {
  const Sample* own = sample_of(run, std::string(sample::kStepTime));
  if (own == nullptr || own->kind == StepKind::kUntold || own->kind == chosen ||
      chosen == StepKind::kUntold) {
    return own;
  }
  // Traced ones lie beside the others; who has traced ones alone has no others.
  return chosen == StepKind::kTraced ? sample_of(run, std::string(sample::kTracedStepTime))
                                     : nullptr;
}

StepChoice choose_steps(std::span<const RunSamples> before, std::span<const RunSamples> after) {
  std::vector<const RunSamples*> runs;
  for (const std::span<const RunSamples> side : {before, after}) {
    for (const RunSamples& run : side) {
      if (has_gate_steps(run)) runs.push_back(&run);
    }
  }
  const auto lacks = [&](StepKind kind) {
    return std::ranges::find_if(
        runs, [&](const RunSamples* run) { return steps_of(*run, kind) == nullptr; });
  };
  const auto is = [&](StepKind kind) {
    return std::ranges::find_if(runs, [&](const RunSamples* run) {
      return steps_of(*run, StepKind::kUntold)->kind == kind;
    });
  };
  const auto traced = lacks(StepKind::kUntraced);  // they are all it has
  if (traced == runs.end()) return {};
  const std::string& name = (*traced)->name;
  if (const auto untraced = lacks(StepKind::kTraced); untraced != runs.end()) {
    return {StepKind::kUntold, "the steps of " + name + " were traced, those of " +
                                   (*untraced)->name +
                                   " were not, and a profiler costs time: the difference may be "
                                   "its doing; compare steps of one kind"};
  }
  if (is(StepKind::kUntraced) != runs.end()) {
    return {StepKind::kTraced, "of both sides the traced steps, since " + name + " has no others"};
  }
  if (const auto untold = is(StepKind::kUntold); untold != runs.end()) {
    return {StepKind::kTraced, "the steps of " + name +
                                   " were traced, which costs time; it is not known whether those "
                                   "of " +
                                   (*untold)->name + " were"};
  }
  return {StepKind::kTraced};
}

bool fails(const Judged& judged, const GateRules& rules) {
  return judged.outcome == Outcome::kFailed || (rules.strict && judged.outcome == Outcome::kUnsure);
}

bool is_overlooked(const Judged& judged) {
  return judged.outcome == Outcome::kNotJudged && judged.limit.asked;
}

bool is_measured(base::Unit unit) {
  using base::Unit;
  return unit == Unit::kNanos || unit == Unit::kShare || unit == Unit::kPerSecond ||
         unit == Unit::kBytesPerSecond;
}

std::string_view name_of(Outcome outcome) {
  static constexpr std::array<std::string_view, 5> kNames = {"passed", "better", "failed", "unsure",
                                                             "not judged"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::optional<GateLimit> named_limit(std::string_view name) {
  using base::Unit;
  GateLimit limit{.name = std::string(name), .sample = std::string(name)};
  if (name == sample::kStepTime) {
    limit.unit = Unit::kNanos;
  } else if (name == sample::kThroughput) {
    limit.sample = sample::kStepTime;
    limit.unit = Unit::kPerSecond;
    limit.average = Average::kMean;
    limit.inverted = true;
    limit.less_is_worse = true;
  } else if (name == sample::kPeakMemory) {
    limit.unit = Unit::kBytes;
  } else if (name == sample::kExposedCommunication) {
    limit.unit = Unit::kShare;
  } else {
    return std::nullopt;
  }
  return limit;
}

GateRules standard_rules() {
  GateRules rules;
  for (const auto& [name, share, amount] :
       {std::tuple(sample::kStepTime, std::optional(0.0), std::optional<double>()),
        std::tuple(sample::kThroughput, std::optional(0.0), std::optional<double>()),
        std::tuple(sample::kPeakMemory, std::optional(0.05), std::optional<double>()),
        std::tuple(sample::kExposedCommunication, std::optional<double>(), std::optional(0.02))}) {
    GateLimit limit = *named_limit(name);
    limit.worse_share = share;
    limit.worse_by = amount;
    limit.asked = false;
    rules.limits.push_back(std::move(limit));
  }
  return rules;
}

std::vector<Judged> judge(const GateRules& rules, std::span<const RunSamples> before,
                          std::span<const RunSamples> after) {
  std::vector<Judged> out;
  const std::string of_steps = limits_of_steps(rules);
  for (const RunSamples& run : after) {
    if (!run.bad_end.empty() && !rules.allow_unfinished) {
      out.push_back(about_run("ending", run.name + " " + run.bad_end));
    }
  }
  for (const bool is_before : {true, false}) {
    for (const RunSamples& run : is_before ? before : after) {
      if (of_steps.empty() || has_gate_steps(run)) continue;
      out.push_back(about_run("steps", (is_before ? "the baseline " : "") + run.name +
                                           " has no steps: nothing could be judged of " + of_steps +
                                           "; a profiler's step() marks them, --steps names them"));
    }
  }
  for (const GateLimit& limit : rules.limits) out.push_back(judge_one(limit, rules, before, after));
  return out;
}

}  // namespace stepscope::analysis
