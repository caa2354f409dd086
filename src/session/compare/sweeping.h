// What the scheduler of `stepscope sweep`, in the Python package, asks of analyses: the loader of a
// recorded run, and how sure the times of steps are.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/loading/loader_trial.h"
#include "session/analyze.h"

namespace stepscope::session {

analysis::LoaderTrial loader_trial(const Study& study);

// How many steps at the beginning are unlike the others.
std::size_t warmup_steps(const std::vector<double>& steps);

struct MeanStep {
  double value = 0, variance = 0;  // the variance is that of `value`
};
MeanStep mean_step(const std::vector<double>& settled);

// How likely a variable of Student's distribution exceeds `t`.
double student_tail(double t, double freedom);

}  // namespace stepscope::session
