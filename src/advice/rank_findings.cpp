// Orders findings and keeps overlapping causes from counting twice.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "advice/advise.h"
#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

const RankSteps* rank_findings_steps_of(const Facts& facts, std::int32_t rank) {
  const auto found = std::ranges::find(facts.ranks(), rank, &RankSteps::rank);
  return found == facts.ranks().end() ? nullptr : &*found;
}

// Findings that let the device run dry: what the host loses then looks like slow launching.
bool drains(const Finding& finding) {
  const Rule* rule = find_rule(finding.rule);
  return finding.gain && rule != nullptr && rule->runs_dry;
}

bool shares_rank(const Finding& a, const Finding& b) {
  return std::ranges::find_first_of(a.ranks, b.ranks) != a.ranks.end();
}

// The step that its share is a part of.
double whole_ns_of(const Finding& finding, const RankSteps& rank) {
  return finding.measured.whole_ns > 0 ? finding.measured.whole_ns : rank.step_ns;
}

// Of the recorded steps, as all that is measured.
Gain gain_here(const Finding& finding) { return finding.here.value_or(*finding.gain); }

// Whether a cure of `other` may take away what `finding` is about, by what their rules say.
bool explains(const Finding& other, const Finding& finding) {
  if (&other == &finding || !other.gain || !shares_rank(other, finding)) return false;
  const Rule* const cause = find_rule(other.rule);
  const Rule* const rule = find_rule(finding.rule);
  if (cause == nullptr || rule == nullptr) return false;
  return (rule->takes_what_is_left && drains(other)) ||
         std::ranges::find(cause->explains, finding.rule) != cause->explains.end();
}

// What `other` may bring of waits for launches that are not its own.
double launching_lost_to(const Finding& other, const RankSteps& rank) {
  const auto high = static_cast<double>(gain_here(other).high);
  if (!drains(other)) return static_cast<double>(other.gain->high);
  if (other.measured.unit != base::Unit::kShare) return 0;
  return std::max(0.0, high - other.measured.value * whole_ns_of(other, rank));
}

// Idle time of launching may be the lead that was lost to the others; only what is beyond that is
// launching's own.
void share_launching(const Facts& facts, const Advice& advice, Finding& launch) {
  const RankSteps* rank = rank_findings_steps_of(facts, launch.ranks.front());
  if (rank == nullptr) return;
  double lost = 0;     // at most, to all others: what they claim beyond their own waits
  double counted = 0;  // launching that is part of other findings
  for (const Finding& other : advice.findings) {
    if (!explains(other, launch)) continue;
    if (std::ranges::find(other.ranks, rank->rank) == other.ranks.end()) continue;
    lost += launching_lost_to(other, *rank);
    const Rule& rule = *find_rule(other.rule);
    if (rule.counted_launching_ns != nullptr) counted += rule.counted_launching_ns(facts, *rank);
  }
  if (lost <= 2 * kNoise * rank->median_ns && counted <= 0) return;
  const double own = std::max(0.0, facts.launching_ns(*rank) - counted);
  const double left = std::max(0.0, std::min(own, static_cast<double>(launch.gain->low)) - lost);
  const double all = facts.launching_ns(*rank);
  const double unrecorded = all > 0 ? own * launching_left_ns(facts, *rank) / all : 0;
  const double high =
      std::max(left, std::min(unrecorded, launching_untraced_ns(facts, *rank, own)));
  launch.gain = Gain{static_cast<base::Nanos>(left), static_cast<base::Nanos>(high)};
  launch.measured.value = own / rank->step_ns;
  launch.title.figures = {share(launch.measured.value)};
  launch.level = std::min({launch.level,
                           facts.level(launch.rule, launch.measured.value).value_or(Level::kInfo),
                           facts.level(launch.rule, left / rank->step_ns).value_or(Level::kInfo)});
  launch.measured.threshold = facts.threshold_of(launch.rule, launch.level);
  launch.confidence = std::min(launch.confidence, Confidence::kMedium);
  launch.after_others = true;
  launch.detail.form =
      "Mend the other findings first and record again: some or all of this may come from them, or "
      "from the recording itself. " +
      launch.detail.form;
}

void share_what_is_left(const Facts& facts, Advice& advice) {
  for (Finding& finding : advice.findings) {
    const Rule* const rule = find_rule(finding.rule);
    if (rule != nullptr && rule->takes_what_is_left && finding.gain) {
      share_launching(facts, advice, finding);
    }
  }
}

// A gain above what was measured needs a reason.
void explain_upper_bounds(const Facts& facts, Advice& advice) {
  for (Finding& finding : advice.findings) {
    const RankSteps* rank =
        finding.ranks.empty() ? nullptr : rank_findings_steps_of(facts, finding.ranks.front());
    if (rank == nullptr || !finding.gain || finding.measured.unit != base::Unit::kShare) continue;
    if (finding.untraced_step_ns > 0) continue;  // the wait itself, and nothing beside it
    const Rule* const rule = find_rule(finding.rule);
    if (rule != nullptr && rule->says_bounds) continue;
    const double own = finding.measured.value * whole_ns_of(finding, *rank);
    const double beyond = static_cast<double>(gain_here(finding).high) - own;
    const double noise = kNoise * rank->median_ns + 1;  // gains are whole
    if (beyond < 1 || (beyond > noise && !drains(finding))) continue;
    finding.about_gain.form += finding.gain->low == 0 ? " The figure" : " The larger";
    finding.about_gain.form +=
        beyond > noise
            ? " adds {} of short waits that follow: after each stop the CPU has no work queued "
              "ahead, so the GPU also waits before the next few kernels."
            : " adds {}: by so much steps of two recordings differ without any change.";
    finding.about_gain.figures.push_back(nanos(beyond));
  }
}

// Wider than this of the step, a range is of little use: what would make it narrower is said.
constexpr double kWide = 0.5;

bool is_wide(const Finding& finding) {
  return finding.gain && finding.measured.whole_ns > 0 &&
         static_cast<double>(finding.gain->high - finding.gain->low) >
             kWide * finding.measured.whole_ns;
}

void say_what_would_narrow(const Facts& facts, Advice& advice) {
  for (Finding& finding : advice.findings) {
    if (!is_wide(finding) || finding.here) continue;  // how often it comes: more steps, as is said
    const RankSteps* rank =
        finding.ranks.empty() ? nullptr : rank_findings_steps_of(facts, finding.ranks.front());
    const Rule* const rule = find_rule(finding.rule);
    if (rank == nullptr || rule == nullptr) continue;
    const bool of_recording =
        (rule->takes_what_is_left || drains(finding)) && !measured_cost_of_step(facts, *rank);
    finding.about_gain.form +=
        of_recording ? " The range is wide, since what recording costs is not known: " +
                           std::string(kKnowTracing)
                     : " The range is wide: only a recording with the change made can tell more.";
  }
}

// Sure is what the recording shows without an estimate: something is gained for certain, and how
// much is known to half of the step.
void lower_confidence(Advice& advice) {
  for (Finding& finding : advice.findings) {
    if (!finding.gain || (finding.gain->low > 0 && !is_wide(finding))) continue;
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  }
}

// What a finding weighs beside others that may explain it: the middle of its gain beyond theirs.
base::Nanos own_gain(const Advice& advice, const Finding& finding) {
  base::Nanos out = finding.gain->middle();
  for (const Finding& other : advice.findings) {
    if (explains(other, finding)) out -= other.gain->high;
  }
  return std::max<base::Nanos>(0, out);
}

// Memory that fails stops the job: nothing is worth more. The rest of what has no gain comes last.
// What is graver comes before what is less; then what is sure, then what is likely.
using Weight = std::tuple<int, int, base::Nanos, base::Nanos>;
Weight weight(const Finding& finding) {
  const int level = static_cast<int>(finding.level);
  if (finding.gain) return {1, level, finding.gain->low, finding.gain->middle()};
  return {finding.level == Level::kCritical ? 2 : 0, level, 0, 0};
}

// Each below those that may explain most of it.
void move_below_causes(Advice& advice) {
  std::vector<Finding>& list = advice.findings;
  for (std::size_t turn = 0; turn < list.size(); ++turn) {
    bool moved = false;
    for (std::size_t i = 0; i < list.size() && !moved; ++i) {
      if (!list[i].gain) continue;
      const base::Nanos own = own_gain(advice, list[i]);
      std::size_t last = i;
      for (std::size_t j = i + 1; j < list.size(); ++j) {
        if (explains(list[j], list[i]) && list[j].gain->middle() > own) last = j;
      }
      moved = last > i;
      const auto at = [&](std::size_t place) {
        return list.begin() + static_cast<std::ptrdiff_t>(place);
      };
      if (moved) std::rotate(at(i), at(i + 1), at(last + 1));
    }
    if (!moved) return;
  }
}

void rank_by_gain(Advice& advice) {
  std::ranges::stable_sort(advice.findings, std::ranges::greater{}, weight);
  move_below_causes(advice);
}

// What a finding still brings when all before it are mended: together they cannot save more than
// what is left of the step. Those before may save as little as their lower bounds, or nothing.
void add_remaining(Advice& advice) {
  base::Nanos saved = 0;  // at least, by those before
  bool is_first = true;
  for (Finding& finding : advice.findings) {
    if (!finding.gain) continue;
    if (!std::exchange(is_first, false)) {
      const base::Nanos step =
          finding.untraced_step_ns > 0 ? finding.untraced_step_ns : advice.step_ns;
      const base::Nanos left = std::max<base::Nanos>(0, step - saved);
      finding.remaining =
          Gain{std::min(finding.gain->low, left), std::min(finding.gain->high, left)};
    }
    saved += finding.gain->low;
  }
}

// Of a run of several ranks: whose finding it is, and whose figures are shown.
void name_ranks(const Facts& facts, Advice& advice) {
  constexpr std::size_t kNamed = 3;
  if (facts.ranks().size() < 2) return;
  for (Finding& finding : advice.findings) {
    if (finding.ranks.empty()) continue;
    if (finding.ranks.size() > 1 && finding.measured.whole_ns > 0) {
      finding.measured.name +=
          " (of rank " + std::to_string(finding.ranks.front()) + ", the worst)";
    }
    if (finding.ranks.size() >= facts.ranks().size()) continue;
    std::vector<std::int32_t> ranks = finding.ranks;
    std::ranges::sort(ranks);
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < std::min(kNamed, ranks.size()); ++i) {
      const bool is_last = i + 1 == ranks.size();
      text += (i == 0 ? "" : is_last ? " and " : ", ") + std::to_string(ranks[i]);
    }
    if (ranks.size() > kNamed) text += " and " + std::to_string(ranks.size() - kNamed) + " more";
    finding.title.form += " (" + text + ")";
  }
}

}  // namespace

void rank_findings(const Facts& facts, Advice& advice) {
  share_what_is_left(facts, advice);
  explain_upper_bounds(facts, advice);
  say_what_would_narrow(facts, advice);
  lower_confidence(advice);
  rank_by_gain(advice);
  add_remaining(advice);
  name_ranks(facts, advice);
}

}  // namespace stepscope::advice
