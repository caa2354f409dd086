// Estimates what recording costs the host.
#include "advice/tracing.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stepscope::advice {
namespace {

// Of the waits for launches, the host is in an operator or a call: there the profiler is at work.
double operators_share(const Facts& facts, const RankSteps& rank) {
  const StallPerStep launch = facts.stall(rank, "launch");
  return launch.idle_ns > 0 ? std::clamp(launch.inside_ns / launch.idle_ns, 0.0, 1.0) : 1;
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
  constexpr std::array<std::string_view, 6> kOthers = {"input",  "save",          "collector",
                                                       "search", "communication", "pause"};
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
