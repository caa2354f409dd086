// Reads the parts of a step on the CPU, and takes off what tracing costs.
#include "advice/cpu_step.h"

#include <algorithm>
#include <cmath>

#include "advice/host_stall.h"
#include "advice/job_processors.h"

namespace stepscope::advice {
namespace {

struct TracedLoop {
  double step_ns = 0, short_ns = 0;
};

TracedLoop traced_loop(const Facts& facts, const RankSteps& rank) {
  TracedLoop out;
  double steps = 0;
  for (const Line& line : facts.lines("loop", "steps", rank.rank)) {
    steps = line.number("steps");
    out.step_ns = line.number("mean_ns");
  }
  if (steps <= 0) return out;
  for (const Line& line : facts.lines("loop", "parts", rank.rank)) {
    out.short_ns += line.number("short_ns") / steps;
  }
  return out;
}

// Of each ns in short operators and gaps, what is left without tracing.
double left_of_short(const Facts& facts, const RankSteps& rank) {
  constexpr double kAtLeast = 0.2;  // no profiler took more of any
  const TracedLoop traced = traced_loop(facts, rank);
  const double cost = traced.step_ns - cpu_step_ns(facts, rank);
  if (cost <= 0 || traced.short_ns <= 0) return 1;
  return std::max(kAtLeast, 1 - cost / traced.short_ns);
}

LoopPart part_of_line(const Line& line, double steps, double left) {
  LoopPart out;
  const double brief = line.number("short_ns") / steps;
  out.short_ns = brief * left;
  out.ns = line.number("mean_ns") - brief + out.short_ns;
  out.longest_ns = line.number("longest_ns");
  out.calls = line.number("calls") / steps;
  return out;
}

double steps_of_loop(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("loop", "steps", rank.rank)) return line.number("steps");
  return 0;
}

}  // namespace

bool trains_on_cpu(const Facts& facts) { return !facts.on_gpu(); }

double cpu_step_ns(const Facts& facts, const RankSteps& rank) {
  const auto untraced = facts.untraced(rank);
  constexpr double kEnough = 3;
  return untraced && untraced->steps >= kEnough ? untraced->step_ns : rank.step_ns;
}

double starved_share(const Facts& facts, const RankSteps& rank) {
  const auto process = process_of(facts, rank.rank, true);
  return process ? std::clamp(process->number("waited_share"), 0.0, 1.0) : 0;
}

double own_step_ns(const Facts& facts, const RankSteps& rank) {
  constexpr double kLeast = 0.5;  // beyond that, what is work and what is not, is a guess
  return cpu_step_ns(facts, rank) * std::max(kLeast, 1 - starved_share(facts, rank));
}

// The thread works, waits for a processor, or sleeps. It sleeps where it does nothing first of all.
double starved_in(const Facts& facts, const RankSteps& rank, double ns) {
  const auto process = process_of(facts, rank.rank, true);
  if (!process) return 0;
  const double waits = starved_share(facts, rank);
  if (!process->has_value("mean_cores")) return waits * ns;
  const double works = std::max(0.0, process->number("mean_cores"));
  if (waits <= 0) return 0;
  const double sleeps = std::max(0.0, 1 - works - waits) * cpu_step_ns(facts, rank);
  return std::max(0.0, ns - sleeps) * waits / (waits + works);
}

LoopPart loop_part(const Facts& facts, const RankSteps& rank, std::string_view part) {
  const double steps = steps_of_loop(facts, rank);
  if (steps <= 0) return {};
  for (const Line& line : facts.lines("loop", "parts", rank.rank)) {
    if (line.text("part") == part) return part_of_line(line, steps, left_of_short(facts, rank));
  }
  return {};
}

LoopPart whole_loop(const Facts& facts, const RankSteps& rank) {
  LoopPart out;
  const double steps = steps_of_loop(facts, rank);
  if (steps <= 0) return out;
  const double left = left_of_short(facts, rank);
  for (const Line& line : facts.lines("loop", "parts", rank.rank)) {
    const LoopPart one = part_of_line(line, steps, left);
    out.ns += one.ns;
    out.short_ns += one.short_ns;
    out.calls += one.calls;
    out.longest_ns = std::max(out.longest_ns, one.longest_ns);
  }
  return out;
}

void set_cpu_gain(const Facts& facts, const RankSteps& rank, Finding& finding, double low_ns,
                  double high_ns) {
  const double step = cpu_step_ns(facts, rank);
  finding.measured.whole_ns = step;
  if (step != rank.step_ns) finding.untraced_step_ns = static_cast<base::Nanos>(step);
  const double low = std::clamp(low_ns, 0.0, step);
  const double noise = low > 0 ? kNoise * step : 0;
  const double high = std::clamp(high_ns + noise, low, step);
  finding.gain = Gain{static_cast<base::Nanos>(low), static_cast<base::Nanos>(std::ceil(high))};
}

std::optional<Busy> busy_in(const Facts& facts, const RankSteps& rank, double share) {
  constexpr double kMost = 0.8;  // of the stretch
  const auto process = process_of(facts, rank.rank, true);
  if (!process || !process->has_value("mean_cores")) return std::nullopt;
  const double cores = process->number("mean_cores");
  // What the process does not use of one processor, it waits; a second thread would hide that.
  if (1 - cores >= kMost * share) return Busy::kWaits;
  const double most = process->has_value("max_cores") ? process->number("max_cores") : 2;
  constexpr double kOne = 1.1;
  if (most <= kOne && 1 - cores <= (1 - kMost) * share) return Busy::kWorks;
  return std::nullopt;
}

}  // namespace stepscope::advice
