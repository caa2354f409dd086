#include "session/steady_state.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/compare/step_samples.h"

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

// Whether traced steps are the better ones: of the others there are only the first few of the run,
// which nobody can tell from warm-up.
bool is_traced_enough(const SteadyStateStudy& steady) {
  const analysis::RunView& view = steady.study.view();
  const bool has_traced = std::ranges::any_of(view.windows, [](const analysis::WindowView& window) {
    return window.has_steps && !window.trace->is_recording() && !window.measured.empty();
  });
  std::size_t most = 0;
  for (const auto& [rank, steps] : steady.untraced.lengths) most = std::max(most, steps.size());
  return has_traced && most < analysis::kFewestUntraced;
}

}  // namespace

base::Result<SteadyStateStudy> steady_state(const Recording& recording,
                                            analysis::Selection selection, unsigned threads) {
  using analysis::Warmup;
  SCOPE_TRY(Study study, Study::prepare(recording, selection, threads));
  const bool chosen = !selection.steps.empty();
  SteadyStateStudy out{.study = std::move(study)};
  const analysis::RunView& view = out.study.view();
  out.is_traced = view.has_trace();
  out.untraced = analysis::untraced_steps(view, recording.rank_records,
                                          chosen ? Warmup::kKept : Warmup::kLeftOut);
  if (is_traced_enough(out)) out.untraced = {};
  out.marks_steps = !out.untraced.lengths.empty() ||
                    std::ranges::any_of(view.windows, &analysis::WindowView::has_steps);
  if (chosen || !marks_steps(view)) return out;
  SCOPE_TRY(const analysis::Answer all, out.study.ask("steps"));
  const std::vector<std::int64_t> early = analysis::warmup_numbers(all);
  selection.steps = other_steps(view, early);
  SCOPE_TRY(out.study, Study::prepare(recording, selection, threads));
  out.warmup = early.size();
  return out;
}

}  // namespace stepscope::session
