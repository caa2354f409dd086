// What recording itself costs the host: the profiler notes every operator and every call of the
// driver, so that a GPU which waits for the host waits longer in a trace than without one.
#pragma once

#include <optional>
#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

// Of the time that the host spends in operators, a profiler is taken to cost between these shares.
// Five runs that the host limits, timed with and without one (tests/fixtures/faults), gave 18 to
// 46 %. The upper share is below the largest two (44 and 46 %), so that intervals stay within 30 %
// of the step; the tenth that lower bounds take off besides covers those. One machine, and no other
// runs to check the shares with.
inline constexpr double kTracingLeast = 0.17;
inline constexpr double kTracingMost = 0.42;

// Of the host's time, a profiler took hardly more in any recording we have: 0.61 in the worst.
inline constexpr double kTracingEver = 0.6;

// How to know what recording costs.
inline constexpr std::string_view kKnowTracing =
    "time some steps without a profiler, and say how long one takes with --step-time.";

struct TracingCost {
  double least = 0, most = 0;  // ns
  bool known = false;          // from steps of the same run that were not traced
};

// How much longer the traced steps are than the others of the run; nothing where there are no
// others, or they are no shorter: then something else makes the difference.
std::optional<double> measured_cost_of_step(const Facts& facts, const RankSteps& rank);

// Of so much time of the host in a step, in which it prepares work.
TracingCost tracing_cost(const Facts& facts, const RankSteps& rank, double host_ns);

// Of the whole step, as far as the host prepares work in it: what it spends in waiting for data, in
// pauses and the like, no profiler makes longer.
TracingCost tracing_cost_of_step(const Facts& facts, const RankSteps& rank);

// What recording is of the waits for launches, those in the optimizer included: as steps that were
// not traced say; else by playing the steps again, and no less at most than of the whole step.
TracingCost tracing_cost_of_launching(const Facts& facts, const RankSteps& rank);

// Whether all of the waits for launches may be what recording costs: then nothing is known of them
// but that. A wait that only some of the steps have is not counted: launching is the same in all.
bool launching_may_be_recording(const Facts& facts, const RankSteps& rank);

// Waits for launches as far as recording does not explain them: between what it usually costs and
// the most that it does. Their level is by this.
double launching_beyond_recording_ns(const Facts& facts, const RankSteps& rank);

// Waits for launches that are left without recording, as costly as it usually is; all of them where
// nothing tells.
double launching_left_ns(const Facts& facts, const RankSteps& rank);

// Waits for launches, as long as they are at most without a profiler.
double launching_untraced_ns(const Facts& facts, const RankSteps& rank, double launching_ns);

}  // namespace stepscope::advice
