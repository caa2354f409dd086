// What a limit came to, in words.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/cell_text.h"
#include "report/diff.h"
#include "report/gate.h"
#include "report/numbers.h"

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
  const std::string before = figure_text(judged.change.before, judged.limit.unit);
  const std::size_t unit = before.rfind(' ');
  const bool same = unit != std::string::npos && after.ends_with(before.substr(unit));
  return fmt::format("{} → {}", same ? before.substr(0, unit) : before, after);
}

std::string change_text(const Judged& judged) {
  const Difference& change = judged.change;
  const auto share = change.share();
  if (!judged.has_before || !share) return {};
  if (!change.bounds) return fmt::format(" ({})", signed_share_text(*share));
  return fmt::format(" ({})", bounded_share_text(*share, change.bounds->low / change.before,
                                                 change.bounds->high / change.before));
}

std::string allowed_text(const GateLimit& limit) {
  std::string out;
  const std::string_view direction = limit.less_is_worse ? "less" : "more";
  if (limit.worse_share) out = fmt::format("{} {}", share_text(*limit.worse_share), direction);
  if (limit.worse_by)
    out = fmt::format("{} {}", figure_text(*limit.worse_by, limit.unit), direction);
  if (limit.bound) {
    out +=
        fmt::format("{}at {} {}", out.empty() ? "" : ", ", limit.less_is_worse ? "least" : "most",
                    figure_text(*limit.bound, limit.unit));
  }
  return out;
}

// What it would take to be sure.
std::string needed_text(const Judged& judged) {
  if (!judged.why.empty()) return judged.why;
  const Difference& change = judged.change;
  if (!change.enough) return {};
  const std::string seen = amount_of_change_text(change.smallest_seen / change.before);
  std::string out =
      fmt::format("with so much noise a change of less than {} may stay unseen; it takes ", seen);
  if (change.enough->steps > 0) {
    out += fmt::format("{} steps in each run or ",
                       count_text(static_cast<std::uint64_t>(change.enough->steps)));
  }
  return out + fmt::format("{} runs of each",
                           count_text(static_cast<std::uint64_t>(change.enough->runs)));
}

}  // namespace

std::size_t GateReport::count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(judged, [&](const Judged& one) { return one.outcome == outcome; }));
}

bool GateReport::failed() const {
  return nothing_judged() ||
         std::ranges::any_of(judged, [&](const Judged& one) { return fails(one, rules); });
}

std::string gate_verdict(const GateReport& report) {
  std::vector<std::string> failed;
  for (const Judged& one : report.judged) {
    if (!fails(one, report.rules)) continue;
    const bool unsure = one.outcome == Outcome::kUnsure;
    std::string words = unsure ? one.limit.name + " is unsure" : one.limit.name;
    if (failed.empty() || failed.back() != words) failed.push_back(std::move(words));
  }
  if (!failed.empty()) return fmt::format("failed: {}", fmt::join(failed, ", "));
  if (report.nothing_judged()) return "failed: nothing could be judged";
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
  std::string out = fmt::format("{} {}{}; allowed: {}", name, from_to(judged), change_text(judged),
                                allowed_text(judged.limit));
  if (judged.outcome == Outcome::kUnsure) out += "; " + needed_text(judged);
  if (!judged.remark.empty()) out += "; " + judged.remark;
  return out;
}

}  // namespace stepscope::report
