// Analyses as the scheduler of `stepscope sweep` asks them.
#include "session/compare/sweeping.h"

#include "analysis/compare/series.h"
#include "analysis/compare/student.h"

namespace stepscope::session {

analysis::LoaderTrial loader_trial(const Study& study) {
  return analysis::loader_trial(study.view());
}

std::size_t warmup_steps(const std::vector<double>& steps) { return analysis::warmup_steps(steps); }

MeanStep mean_step(const std::vector<double>& settled) {
  const analysis::Estimate found = analysis::estimate(settled, analysis::Average::kMean);
  return {.value = found.value, .variance = found.variance};
}

double student_tail(double t, double freedom) { return analysis::student_tail(t, freedom); }

}  // namespace stepscope::session
