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

// Idle time of launching may be the lead that was lost to the others; only what is beyond that is
// launching's own.
void share_launching(const Facts& facts, Advice& advice) {
  const auto launch = std::ranges::find(advice.findings, kLaunchBound.id,
                                        [](const Finding& one) { return one.rule; });
  if (launch == advice.findings.end()) return;
  const RankSteps* rank = rank_findings_steps_of(facts, launch->ranks.front());
  if (rank == nullptr) return;
  double lost = 0;  // at most, to all others: what they claim beyond their own waits
  bool optimizer = false;
  double selections = 0;  // launching that is part of another finding
  for (const Finding& finding : advice.findings) {
    if (std::ranges::find(finding.ranks, rank->rank) == finding.ranks.end()) continue;
    // A thread without a processor launches nothing: those waits look the same.
    if (finding.rule == kCpuContention.id) lost += static_cast<double>(finding.gain->high);
    if (!drains(finding)) continue;
    if (finding.rule == kHostSync.id && waits_for_selections(facts, *rank)) {
      selections = launching_of_selections_ns(facts, *rank);
    }
    if (finding.measured.unit == base::Unit::kShare) {
      const double waits = finding.measured.value * whole_ns_of(finding, *rank);
      lost += std::max(0.0, static_cast<double>(gain_here(finding).high) - waits);
    }
    optimizer |= finding.rule == kUnfusedOptimizer.id;
  }
  if (lost <= 2 * kNoise * rank->median_ns && !optimizer && selections <= 0) return;
  double own = facts.launching_ns(*rank) - selections;
  if (optimizer) {
    own -= facts.stall(*rank, "optimizer").idle_ns;
    launch->verify =
        "Record again: `stepscope analyze stalls new.json` shows less idle time under 'launch'.";
  }
  const double left = std::max(0.0, std::min(own, static_cast<double>(launch->gain->low)) - lost);
  const double all = facts.launching_ns(*rank);
  const double unrecorded = all > 0 ? own * launching_left_ns(facts, *rank) / all : 0;
  const double high =
      std::max(left, std::min(unrecorded, launching_untraced_ns(facts, *rank, own)));
  launch->gain = Gain{static_cast<base::Nanos>(left), static_cast<base::Nanos>(high)};
  launch->measured.value = own / rank->step_ns;
  launch->title.figures = {share(launch->measured.value)};
  launch->level =
      std::min(facts.level(kLaunchBound.id, launch->measured.value).value_or(Level::kInfo),
               facts.level(kLaunchBound.id, left / rank->step_ns).value_or(Level::kInfo));
  launch->measured.threshold = facts.threshold_of(kLaunchBound.id, launch->level);
  launch->confidence = std::min(launch->confidence, Confidence::kMedium);
  launch->after_others = true;
  launch->detail.form =
      "Mend the other findings first and record again: some or all of this may come from them, or "
      "from the recording itself. " +
      launch->detail.form;
}

// A gain above what was measured needs a reason.
void explain_upper_bounds(const Facts& facts, Advice& advice) {
  for (Finding& finding : advice.findings) {
    const RankSteps* rank =
        finding.ranks.empty() ? nullptr : rank_findings_steps_of(facts, finding.ranks.front());
    if (rank == nullptr || !finding.gain || finding.measured.unit != base::Unit::kShare) continue;
    if (finding.untraced_step_ns > 0) continue;  // the wait itself, and nothing beside it
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

// Their cure takes waits for launches away, too: work that is not done again is not launched, and a
// thread that has a processor launches.
bool launches_too(const Finding& finding) {
  return finding.rule == kCpuContention.id || finding.rule == kRecompute.id;
}

// What a finding weighs beside others: the middle of its gain. Slow launching may be their doing,
// in part or all: only what it may save beyond them counts. Of time without a name it is not known
// yet whether any can be saved: only what is sure counts.
base::Nanos own_gain(const Advice& advice, const Finding& finding) {
  if (finding.rule == kUnnamedTime.id) return finding.gain->low;
  base::Nanos out = finding.gain->middle();
  if (!finding.after_others) return out;
  for (const Finding& other : advice.findings) {
    if (&other == &finding || !other.gain || !shares_rank(other, finding)) continue;
    if (drains(other) || launches_too(other)) out -= other.gain->high;
  }
  return std::max<base::Nanos>(0, out);
}

// Memory that fails stops the job: nothing is worth more. The rest of what has no gain comes last.
using Weight = std::tuple<int, base::Nanos, int>;
Weight weight(const Advice& advice, const Finding& finding) {
  const int level = static_cast<int>(finding.level);
  if (finding.gain) return {1, own_gain(advice, finding), level};
  return {finding.level == Level::kCritical ? 2 : 0, 0, level};
}

void rank_by_gain(Advice& advice) {
  std::vector<std::pair<Weight, std::size_t>> order;
  order.reserve(advice.findings.size());
  for (std::size_t i = 0; i < advice.findings.size(); ++i) {
    order.emplace_back(weight(advice, advice.findings[i]), i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<Weight, std::size_t>::first);
  std::vector<Finding> ranked;
  ranked.reserve(order.size());
  for (const auto& [weight, at] : order) ranked.push_back(std::move(advice.findings[at]));
  advice.findings = std::move(ranked);
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
  share_launching(facts, advice);
  explain_upper_bounds(facts, advice);
  rank_by_gain(advice);
  add_remaining(advice);
  name_ranks(facts, advice);
}

}  // namespace stepscope::advice
