// Estimates what recording costs the host.
#include "advice/tracing.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "advice/host_stall.h"

namespace stepscope::advice {
namespace {

// Of the waits for launches, the host is in an operator or a call: there the profiler is at work.
double operators_share(const Facts& facts, const RankSteps& rank) {
  const StallPerStep launch = facts.stall(rank, "launch");
  return launch.idle_ns > 0 ? std::clamp(launch.inside_ns / launch.idle_ns, 0.0, 1.0) : 1;
}

// How much longer these waits are in the mean step than in those with short ones, of which a
// quarter are shorter: a profiler takes longer in the first steps it records, and so do machines at
// times.
double launching_of_long_steps_ns(const Facts& facts, const RankSteps& rank) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> steps;
  for (const Line& line : facts.lines("steps", "steps", rank.rank)) {
    steps[{line.whole("window"), line.whole("step")}] = 0;
  }
  constexpr std::size_t kEnough = 4;  // to have short ones
  if (steps.size() < kEnough || static_cast<std::int64_t>(steps.size()) != rank.steps) return 0;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    if (line.text("stall") != "launch" && line.text("stall") != "optimizer") continue;
    const auto step = steps.find({line.whole("window"), line.whole("step")});
    if (step != steps.end()) step->second += line.number("idle_ns");
  }
  std::vector<double> idle;
  for (const auto& [step, waits] : steps) idle.push_back(waits);
  const double mean = std::reduce(idle.begin(), idle.end()) / static_cast<double>(idle.size());
  const auto quarter = idle.begin() + static_cast<std::ptrdiff_t>((idle.size() - 1) / 4);
  std::ranges::nth_element(idle, quarter);
  constexpr double kClearly = 0.05;  // of the step: less is how machines are
  const double longer = mean - *quarter;
  return longer < kClearly * rank.median_ns ? 0 : std::min(longer, facts.launching_ns(rank));
}

// By playing the steps again.
std::optional<TracingCost> played_cost_of_launching(const Facts& facts, const RankSteps& rank) {
  TracingCost out;
  for (const std::string_view sort : {"launch", "optimizer"}) {
    const StallPerStep waits = facts.stall(rank, sort);
    if (waits.idle_ns <= 0) continue;
    if (!waits.usual_ns || !waits.without_profiler_ns) return std::nullopt;
    out.least += std::max(0.0, waits.idle_ns - *waits.usual_ns);
    out.most += std::max(0.0, waits.idle_ns - *waits.without_profiler_ns);
  }
  return out;
}

}  // namespace

std::optional<double> measured_cost_of_step(const Facts& facts, const RankSteps& rank) {
  const auto untraced = facts.untraced(rank);
  if (!untraced || untraced->step_ns <= 0 || untraced->step_ns > rank.step_ns) return std::nullopt;
  return rank.step_ns - untraced->step_ns;
}

TracingCost tracing_cost(const Facts& facts, const RankSteps& rank, double host_ns) {
  const double inside = operators_share(facts, rank) * std::max(0.0, host_ns);
  TracingCost out{kTracingLeast * inside, kTracingMost * inside};
  if (const auto measured = measured_cost_of_step(facts, rank)) {
    out.most = std::min(out.most, *measured);
    out.least = std::min(out.least, out.most);
    out.known = true;
  }
  return out;
}

TracingCost tracing_cost_of_step(const Facts& facts, const RankSteps& rank) {
  constexpr std::array<std::string_view, 12> kOthers = {
      "input",  "save", "collector", "search",    "communication", "pause",
      "update", "data", "inspect",   "operators", "compile",       "driver"};
  double host = rank.step_ns;
  for (const std::string_view sort : kOthers) host -= facts.stall(rank, sort).idle_ns;
  host -= facts.waited_once_ns(rank) / static_cast<double>(rank.steps);
  TracingCost out = tracing_cost(facts, rank, host);
  if (out.known) {
    out.least = out.most;
  } else {
    // A GPU that is ahead of the host in a part of the step hides what recording costs there.
    out.least = tracing_cost(facts, rank, facts.launching_ns(rank)).least;
  }
  return out;
}

TracingCost tracing_cost_of_launching(const Facts& facts, const RankSteps& rank) {
  TracingCost out = tracing_cost_of_step(facts, rank);
  if (out.known) return out;
  if (const auto played = played_cost_of_launching(facts, rank)) {
    // Both are estimates: some loops cost more than the play takes off.
    out = {played->least, std::max(played->most, out.most)};
  }
  return out;
}

bool launching_may_be_recording(const Facts& facts, const RankSteps& rank) {
  const double all = facts.launching_ns(rank);
  if (const auto measured = measured_cost_of_step(facts, rank)) {
    return all - *measured <= 2 * kNoise * rank.median_ns;
  }
  const double short_steps = all - launching_of_long_steps_ns(facts, rank);
  const auto played = played_cost_of_launching(facts, rank);
  if (!played) return short_steps <= kTracingEver * operators_share(facts, rank) * rank.step_ns;
  // Recording may cost more than the most that the play takes off, by as much again as that is more
  // than usual: without a profiler, the GPU of such a recording was busy.
  return short_steps - 2 * played->most + played->least <= 0;
}

double launching_beyond_recording_ns(const Facts& facts, const RankSteps& rank) {
  const TracingCost cost = tracing_cost_of_launching(facts, rank);
  const double all = facts.launching_ns(rank);
  if (cost.known) return std::max(0.0, all - cost.most);
  const auto played = played_cost_of_launching(facts, rank);
  const double usual = played ? (played->least + played->most) / 2 : (cost.least + cost.most) / 2;
  return std::max(0.0, all - launching_of_long_steps_ns(facts, rank) - usual);
}

double launching_left_ns(const Facts& facts, const RankSteps& rank) {
  const double all = facts.launching_ns(rank);
  if (measured_cost_of_step(facts, rank)) return all;
  const auto played = played_cost_of_launching(facts, rank);
  return played ? all - played->least : all;
}

double launching_untraced_ns(const Facts& facts, const RankSteps& rank, double launching_ns) {
  return std::max(0.0, launching_ns - tracing_cost(facts, rank, launching_ns).least);
}

}  // namespace stepscope::advice
