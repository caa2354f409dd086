// What the steps of a run say: how long they took on its slowest rank, and which of them are
// warm-up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/gate.h"
#include "analysis/compare/untraced.h"

namespace stepscope::analysis {

// The rank whose typical step is longest; nothing without steps.
std::optional<std::int64_t> slowest_rank(const Answer& steps);
// Lengths of the steps of one rank, in order.
std::vector<double> step_lengths(const Answer& steps, std::int64_t rank);
// Numbers of the steps that are warm-up on any rank. Of recordings that mark no steps: none.
std::vector<std::int64_t> warmup_numbers(const Answer& steps);

// Steps of a run in two answers: those of the analysis `steps`, and those outside of windows.
struct RunSteps {
  const Answer* steps = nullptr;
  const UntracedSteps* untraced = nullptr;
  bool is_traced = true;  // a profiler ran during `steps`; else they were recorded, windows or not
};
// The samples of step times, each of the slowest rank: of steps that nothing but the training took
// part in where there are such, of traced ones beside them.
void add_step_times(const RunSteps& of, RunSamples& out);
// The rank whose lengths steps_of() gives for what was chosen.
std::optional<std::int64_t> rank_of_steps(const RunSteps& of, StepKind chosen);

}  // namespace stepscope::analysis
