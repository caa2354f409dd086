#include "session/settled.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/compare/diff.h"

namespace stepscope::session {
namespace {

bool marks_steps(const analysis::RunView& view) {
  return !view.windows.empty() &&
         std::ranges::all_of(view.windows, &analysis::WindowView::has_steps);
}

// Numbers of all steps but these.
std::vector<std::int64_t> other_steps(const analysis::RunView& view,
                                      const std::vector<std::int64_t>& left_out) {
  std::set<std::int64_t> numbers;
  for (const analysis::WindowView& window : view.windows) {
    for (const analysis::StepTime& step : window.steps) numbers.insert(step.number);
  }
  for (const std::int64_t number : left_out) numbers.erase(number);
  return {numbers.begin(), numbers.end()};
}

}  // namespace

base::Result<SettledStudy> settle(const Recording& recording, analysis::Selection selection,
                                  unsigned threads) {
  SCOPE_TRY(Study study, Study::prepare(recording, selection, threads));
  if (!selection.steps.empty() || !marks_steps(study.view())) {
    return SettledStudy{.study = std::move(study)};
  }
  SCOPE_TRY(const analysis::Answer all, study.ask("steps"));
  const std::vector<std::int64_t> early = analysis::warmup_numbers(all);
  selection.steps = other_steps(study.view(), early);
  SCOPE_TRY(study, Study::prepare(recording, selection, threads));
  return SettledStudy{.study = std::move(study), .warmup = early.size()};
}

}  // namespace stepscope::session
