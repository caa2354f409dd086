// The step of a training on the CPU, by what the thread that trains does in it.
#pragma once

#include <optional>
#include <string_view>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

// Whether the CPU does the work: no GPU is in the trace, and none was seen at work beside it.
bool trains_on_cpu(const Facts& facts);

// A step that no profiler slowed, where the run has such; else the recorded one.
double cpu_step_ns(const Facts& facts, const RankSteps& rank);

// Of the time, in which the thread that trains was ready and had no processor; 0: not known.
double starved_share(const Facts& facts, const RankSteps& rank);
// The step without that: what a fault is a part of, however crowded the machine was.
double own_step_ns(const Facts& facts, const RankSteps& rank);
// Of time in which the thread does no work that it waits for somebody else with: how much it was
// ready and had no processor.
double starved_in(const Facts& facts, const RankSteps& rank, double ns);

// Of an untraced step: a part of the table `loop`. Tracing makes short operators longer, and what
// lies between them: what it cost is taken off there, as far as it is known.
struct LoopPart {
  double ns = 0;        // per step
  double short_ns = 0;  // of it: operators and gaps too short for any work
  double longest_ns = 0;
  double calls = 0;  // operators per step
};
LoopPart loop_part(const Facts& facts, const RankSteps& rank, std::string_view part);

// All parts together.
LoopPart whole_loop(const Facts& facts, const RankSteps& rank);

// The gain of a finding of a training on the CPU is of the steps that no profiler slowed.
void set_cpu_gain(const Facts& facts, const RankSteps& rank, Finding& finding, double low_ns,
                  double high_ns);

// Whether the thread that trains waits in a stretch of its step, or works: by the processor time of
// its process. Nothing: that does not tell.
enum class Busy : std::uint8_t { kWorks, kWaits };
std::optional<Busy> busy_in(const Facts& facts, const RankSteps& rank, double share);

}  // namespace stepscope::advice
