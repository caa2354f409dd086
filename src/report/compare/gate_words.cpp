// What a limit came to, in words.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/compare/compare.h"
#include "report/tables/cell_text.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

using analysis::Difference;
using analysis::GateLimit;
using analysis::Judged;
using analysis::Outcome;

// "19.2 → 20.4 ms": the unit once, where both have the same.
std::string from_to(const Judged& judged) {
  std::string after = figure_text(judged.change.after, judged.limit.unit);
  if (!judged.has_before) return after;
  if (judged.limit.unit == base::Unit::kNanos) {
    return durations_text(std::llround(judged.change.before), std::llround(judged.change.after));
  }
  const std::string before = figure_text(judged.change.before, judged.limit.unit);
  const std::size_t unit = before.rfind(' ');
  const bool same = unit != std::string::npos && after.ends_with(before.substr(unit));
  return fmt::format("{} → {}", same ? before.substr(0, unit) : before, after);
}

// Of a share in points: per cent of per cent are misread.
std::string gate_words_change_text(const Judged& judged) {
  const Difference& change = judged.change;
  if (!judged.has_before) return {};
  if (judged.limit.unit == base::Unit::kShare) {
    const bool is_exact = !change.bounds || change.bounds->low == change.bounds->high;
    if (is_exact && change.difference() == 0) return {};
    if (!change.bounds) return fmt::format(" ({})", points_text(change.difference()));
    return fmt::format(
        " ({})", bounded_points_text(change.difference(), change.bounds->low, change.bounds->high));
  }
  const auto share = change.share();
  if (!share) return {};
  if (!change.bounds) return fmt::format(" ({})", signed_share_text(*share));
  return fmt::format(" ({})", bounded_share_text(*share, change.bounds->low / change.before,
                                                 change.bounds->high / change.before));
}

// Of an amount of change: "2.0 percentage points", "55.0 ms".
std::string amount_text(double amount, base::Unit unit) {
  if (unit != base::Unit::kShare) return figure_text(amount, unit);
  return fmt::format("{:.3g} percentage points", 100 * amount);
}

std::string allowed_text(const Judged& judged) {
  const GateLimit& limit = judged.limit;
  std::string out;
  const std::string_view direction = limit.less_is_worse ? "less" : "more";
  if (limit.worse_share) out = fmt::format("{} {}", share_text(*limit.worse_share), direction);
  if (limit.worse_share && *limit.worse_share == 0 && !judged.as_it_is) out += " beyond noise";
  if (limit.worse_by) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", amount_text(*limit.worse_by, limit.unit),
                       direction);
  }
  if (limit.bound) {
    out +=
        fmt::format("{}at {} {}", out.empty() ? "" : ", ", limit.less_is_worse ? "least" : "most",
                    figure_text(*limit.bound, limit.unit));
  }
  if (judged.as_it_is && analysis::is_measured(limit.unit)) {
    out += "; compared as it is: the noise of one figure is not known";
  }
  return out;
}

// What may stay unseen: it is more than what is allowed, too.
std::string unseen_text(const Judged& judged) {
  const double seen = judged.allowed + judged.change.smallest_seen;
  if (judged.limit.unit == base::Unit::kShare || !(judged.change.before > 0)) {
    return amount_text(seen, judged.limit.unit);
  }
  return amount_of_change_text(seen / judged.change.before);
}

// Of fewer steps the noise is little more than a guess, and so is any number that comes of it.
constexpr std::size_t kStepsThatTell = 10;
constexpr std::int64_t kStepsToBeginWith = 30;

// The least steps that tell how much they vary; a side with one step varies as the other does.
std::size_t telling_steps(const Difference& change) {
  if (change.steps_before < 2) return change.steps_after;
  if (change.steps_after < 2) return change.steps_before;
  return std::min(change.steps_before, change.steps_after);
}

// What it would take to be sure.
std::string needed_text(const Judged& judged) {
  const std::optional<analysis::Enough>& enough = judged.change.enough;
  std::string out = judged.near_bound ? "too near to the bound to tell" : judged.why;
  if (out.empty()) {
    out = fmt::format("with so much noise a change of less than {} may stay unseen",
                      unseen_text(judged));
  }
  if (!enough) return out;
  const std::string_view in_each = judged.has_before ? " in each run" : "";
  if (const std::size_t steps = telling_steps(judged.change);
      steps < kStepsThatTell && !enough->is_assumed && enough->steps > kStepsToBeginWith) {
    return fmt::format("{}; it takes {} steps{} to begin with: {} tell too little of the noise",
                       out, kStepsToBeginWith, in_each, steps);
  }
  std::string takes;
  if (enough->steps > 0) {
    takes =
        fmt::format("{} steps{}", count_text(static_cast<std::uint64_t>(enough->steps)), in_each);
  }
  if (enough->runs > 0) {
    takes += fmt::format("{}{} runs{}", takes.empty() ? "" : " or ",
                         count_text(static_cast<std::uint64_t>(enough->runs)),
                         judged.has_before ? " of each" : "");
  }
  if (takes.empty()) return out + "; no number of steps or runs would tell";
  out += "; it takes " + takes;
  if (enough->is_assumed) {
    out += fmt::format(", where steps vary by {}", share_text(analysis::kAssumedVariation));
  }
  return out;
}

// Why it failed: what of the change is sure is more than is allowed.
std::string failed_text(const Judged& judged) {
  const Difference& change = judged.change;
  const GateLimit& limit = judged.limit;
  const std::string_view direction = limit.less_is_worse ? "less" : "more";
  if (judged.beyond_bound) return "; surely beyond the bound";
  if (!change.bounds || !judged.has_before) return {};
  const double sure = limit.less_is_worse ? -change.bounds->high : change.bounds->low;
  const bool in_unit = limit.unit == base::Unit::kShare || !(change.before > 0);
  const std::string amount =
      in_unit ? amount_text(sure, limit.unit) : amount_of_change_text(sure / change.before);
  return fmt::format("; surely at least {} {}", amount,
                     amount.ends_with(" times") ? "as much" : direction);
}

}  // namespace

std::size_t GateReport::count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(judged, [&](const Judged& one) { return one.outcome == outcome; }));
}

bool GateReport::failed() const {
  return nothing_judged() || std::ranges::any_of(judged, [&](const Judged& one) {
           return fails(one, rules) || is_overlooked(one);
         });
}

std::string gate_verdict(const GateReport& report) {
  std::vector<std::string> failed;
  for (const Judged& one : report.judged) {
    if (!fails(one, report.rules) && !is_overlooked(one)) continue;
    std::string words = one.limit.name;
    if (one.outcome == Outcome::kUnsure) words += " is unsure";
    if (one.outcome == Outcome::kNotJudged) words += " could not be judged";
    if (failed.empty() || failed.back() != words) failed.push_back(std::move(words));
  }
  if (report.nothing_judged()) return "failed: nothing could be judged";
  if (!failed.empty()) return fmt::format("failed: {}", fmt::join(failed, ", "));
  const std::size_t judged = report.judged.size() - report.count(Outcome::kNotJudged);
  std::string out = "passed: " + counted(judged, "limit");
  if (const std::size_t unsure = report.count(Outcome::kUnsure); unsure > 0) {
    out += fmt::format(", {} of them with little certainty", unsure);
  }
  return out;
}

std::string judged_text(const Judged& judged) {
  const std::string& name = judged.limit.name;
  if (judged.outcome == Outcome::kNotJudged || judged.about_run) {
    return fmt::format("{}: {}", name, judged.why);
  }
  std::string out = fmt::format("{} {}{}; allowed: {}", name, from_to(judged),
                                gate_words_change_text(judged), allowed_text(judged));
  if (judged.outcome == Outcome::kUnsure) out += "; " + needed_text(judged);
  if (judged.outcome == Outcome::kFailed) out += failed_text(judged);
  if (!judged.remark.empty()) out += "; " + judged.remark;
  return out;
}

}  // namespace stepscope::report
