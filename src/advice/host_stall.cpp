// What rules about waits of the host share: worst ranks, gain, evidence.
#include "advice/host_stall.h"

#include <algorithm>
#include <cmath>

#include "advice/known.h"
#include "advice/step_time.h"
#include "advice/tracing.h"

namespace stepscope::advice {

std::vector<Weighed> worst_ranks(const Facts& facts, std::string_view rule,
                                 const std::function<double(const RankSteps&)>& weigh) {
  std::vector<Weighed> out;
  for (const RankSteps& rank : facts.ranks()) {
    if (rank.step_ns <= 0) continue;
    const double share = weigh(rank) / rank.step_ns;
    if (facts.level(rule, share)) out.push_back({&rank, share});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &Weighed::share);
  return out;
}

bool waits_for_launches(const Facts& facts, const RankSteps& rank) {
  return facts.level(kLaunchBound.id, launching_left_ns(facts, rank) / rank.step_ns).has_value();
}

double lost_lead(const Facts& facts, const RankSteps& rank, double own) {
  return lost_lead(facts, rank, own, facts.launching_ns(rank));
}

double lost_lead(const Facts& facts, const RankSteps& rank, double own, double launching_ns) {
  return std::min(launching_untraced_ns(facts, rank, launching_ns), kLostLead * own);
}

Sure& Sure::operator+=(const Sure& other) {
  gain_ns += other.gain_ns;
  recording_ns += other.recording_ns;
  played |= other.played;
  worst_ns += other.worst_ns;
  return *this;
}

Sure sure_of(const Facts& facts, const RankSteps& rank, const StallPerStep& waits) {
  if (!waits.without_profiler_ns) {
    const double host = std::max(0.0, waits.idle_ns - waits.inside_ns);
    const double cost = tracing_cost(facts, rank, host).most;
    return {kHidden * (waits.idle_ns - cost), cost, false, std::max(0.0, waits.idle_ns - cost)};
  }
  double cost = std::max(0.0, waits.idle_ns - *waits.without_profiler_ns);
  // It may cost as much again as the most of the replay is above the usual.
  double worst = cost + std::max(0.0, waits.usual_ns.value_or(0) - *waits.without_profiler_ns);
  if (const auto measured = measured_cost_of_step(facts, rank)) {
    cost = std::min(cost, *measured);
    worst = std::min(worst, *measured);
  }
  return {std::min(kHidden * waits.idle_ns, waits.idle_ns - cost), cost, true,
          std::max(0.0, waits.idle_ns - worst)};
}

namespace {

// Where all of the wait may be what recording costs, no fault is known of.
void doubt_all_of_it(Finding& finding) {
  finding.level = Level::kInfo;
  finding.gain->low = 0;
}

}  // namespace

void say_tracing(Finding& finding, const RankSteps& rank, const Sure& sure) {
  if (!sure.played) return say_tracing(finding, rank, sure.recording_ns);
  if (sure.recording_ns < kNoise * rank.median_ns) return;
  if (finding.gain && sure.worst_ns <= 2 * kNoise * rank.median_ns) doubt_all_of_it(finding);
  finding.about_gain.form +=
      finding.gain && finding.gain->low == 0
          ? " There is no lower bound: up to {} of the wait, and so all of it, may come from the "
            "profiler itself."
          : " The smaller figure: up to {} of the wait may come from the profiler itself.";
  finding.about_gain.figures.push_back(nanos(sure.recording_ns));
}

void say_tracing(Finding& finding, const RankSteps& rank, double cost) {
  if (cost < kNoise * rank.median_ns) return;
  if (finding.gain && finding.gain->low == 0) doubt_all_of_it(finding);
  finding.about_gain.form +=
      finding.gain && finding.gain->low == 0
          ? " There is no lower bound: recording may have added {} to the wait, which is all of it."
          : " The smaller figure leaves out a tenth of the wait, and up to {} that recording adds "
            "to it.";
  finding.about_gain.figures.push_back(nanos(cost));
}

namespace {

// How far the mean of a few steps is above the true one, usually: no step is below the least.
double spread_of(const std::vector<double>& lengths) {
  if (lengths.size() < 2) return 0;
  const Sample sample = sample_of(lengths);
  return std::min(std::sqrt(sample.variance_of_mean()), sample.mean - std::ranges::min(lengths));
}

}  // namespace

double spread_of_idle_ns(const Facts& facts, const RankSteps& rank, std::string_view sort) {
  std::vector<double> idle;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    if (line.text("stall") == sort) idle.push_back(line.number("idle_ns"));
  }
  std::vector<double> steps;
  for (const Line& line : facts.lines("steps", "steps", rank.rank)) {
    steps.push_back(line.number("step_ns"));
  }
  return std::min(spread_of(idle), spread_of(steps));
}

Finding begin_finding(const Facts& facts, const Rule& rule, const std::vector<Weighed>& ranks,
                      double low_ns, double high_ns) {
  const Weighed& worst = ranks.front();
  Finding finding{.rule = rule.id, .cause = rule.cause};
  finding.level = facts.level(rule.id, worst.share).value_or(Level::kInfo);
  // One step, or a recording without marks of steps, may be warm-up.
  if (worst.rank->steps < 2) finding.level = std::min(finding.level, Level::kWarning);
  finding.measured = {.name = {},
                      .value = worst.share,
                      .threshold = facts.threshold_of(rule.id, finding.level),
                      .whole_ns = worst.rank->step_ns};
  for (const Weighed& one : ranks) finding.ranks.push_back(one.rank->rank);
  const double low = std::clamp(low_ns, 0.0, worst.rank->step_ns);
  const double noise = high_ns > 0 ? kNoise * worst.rank->median_ns : 0;
  // Of what may bring nothing at all, the most is what was measured, unless the rule says what goes
  // with it.
  const double measured = worst.share * worst.rank->step_ns;
  const bool is_capped = low == 0 && high_ns <= measured;
  const double most = is_capped ? std::min(high_ns + noise, measured) : high_ns + noise;
  const double high = std::clamp(most, low, worst.rank->step_ns);
  finding.gain = Gain{static_cast<base::Nanos>(low), static_cast<base::Nanos>(std::ceil(high))};
  const std::int64_t steps = worst.rank->steps;
  finding.confidence = steps >= 3   ? Confidence::kHigh
                       : steps >= 2 ? Confidence::kMedium
                                    : Confidence::kLow;
  return finding;
}

void doubt_how_often(Finding& finding, const RankSteps& rank) {
  constexpr std::int64_t kEnough = 5;
  if (rank.steps < kEnough) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
}

void add_places(Finding& finding, const Facts& facts, const RankSteps& rank, std::string_view sort,
                std::size_t most) {
  bool with_frames = false;
  const bool in_all = facts.stall(rank, sort).steps >= rank.steps;
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (finding.evidence.size() == most) break;
    if (line.text("stall") != sort) continue;
    const double once = facts.waited_once_ns(line);
    const double waits = line.number("waits") - (once > 0 ? 1 : 0);
    if (waits <= 0 || line.number("idle_ns") <= once) continue;
    Evidence evidence{.text = {}, .rank = rank.rank, .window = line.whole("window")};
    std::string& form = evidence.text.form;
    std::vector<Figure>& figures = evidence.text.figures;
    if (line.has_value("op")) figures.emplace_back(line.text("op"));
    if (line.has_value("call")) figures.emplace_back(line.text("call"));
    form = figures.empty()      ? "in Python code between PyTorch's operators"
           : figures.size() > 1 ? "{}, in {}"
                                : "{}";
    const auto steps = static_cast<double>(rank.steps);
    figures.push_back(nanos((line.number("idle_ns") - once) / steps));
    if (waits >= steps && in_all) {  // of each step, as the title counts
      form += waits < 1.05 * steps ? ": {} idle per step, in a gap between GPU work"
                                   : ": {} idle per step, in {} gaps between GPU work";
      if (waits >= 1.05 * steps) figures.push_back(count(waits / steps));
    } else if (rank.steps == 1) {
      form += waits == 1 ? ": {} idle, in {} gap between GPU work"
                         : ": {} idle, in {} gaps between GPU work";
      figures.push_back(count(waits));
    } else {
      form += waits == 1 ? ": {} idle per step on average, in {} gap between GPU work in {} steps"
                         : ": {} idle per step on average, in {} gaps between GPU work in {} steps";
      figures.push_back(count(waits));
      figures.push_back(count(steps));
    }
    if (line.has_value("frames")) {
      form += "; called from {}";
      figures.emplace_back(line.text("frames"));
    }
    // The event is of the longest wait.
    if (line.has_value("step") && once == 0) evidence.step = line.whole("step");
    if (line.has_value("event") && once == 0) evidence.event = line.whole("event");
    with_frames |= line.has_value("frames");
    finding.evidence.push_back(std::move(evidence));
  }
  // Whoever is to change a line must know which.
  const bool of_code = sort == "sync" || sort == "upload" || sort == "allocator";
  if (of_code && !finding.evidence.empty() && !with_frames && !has_stacks(facts)) {
    finding.detail.form +=
        " To see which lines of your program do this, record again with Python's stacks: {}.";
    finding.detail.figures.emplace_back(how_to_record(Wanted::kStacks, facts.recorder()));
  }
}

}  // namespace stepscope::advice
