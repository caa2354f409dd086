// Compares two runs, each without its warm-up.
#include "session/compare/compare.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/compare/diff.h"
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
// which cannot be told apart from warm-up.
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

base::Result<SteadyStateStudy> steady_state(const OpenedRun& recording,
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

namespace {

base::Failure no_steps(std::string_view name, std::string_view why) {
  return base::fail(base::Code::kFormat,
                    fmt::format("{}: it has no steps, and steps are compared: {}", name, why));
}

base::Status check_steps(const ComparedSide& asked, const SteadyStateStudy& own,
                         const SteadyStateStudy& other) {
  if (own.marks_steps) return base::Done{};
  if (!own.is_traced) {
    return no_steps(asked.name,
                    "no training loop was recorded in it; `stepscope.profile` marks steps with "
                    "step(), and `stepscope run` finds the optimizer's");
  }
  // Two traces without marks are compared whole.
  if (!other.marks_steps) return base::Done{};
  return no_steps(asked.name,
                  "nothing marks them in this trace; mark them with profiler.step(), or name them "
                  "with --steps");
}

base::Result<analysis::Side> side_of(const ComparedSide& asked, SteadyStateStudy steady) {
  const Study& study = steady.study;
  SCOPE_TRY(analysis::Answer steps, study.ask("steps"));
  SCOPE_TRY(analysis::Answer operators, study.ask("operators", {{"top", "0"}}));
  SCOPE_TRY(analysis::Answer overview, study.ask("overview"));
  return analysis::Side{.name = asked.name,
                        .steps = std::move(steps),
                        .operators = std::move(operators),
                        .overview = std::move(overview),
                        .launched = analysis::launched_work(study.view()),
                        .by_step = analysis::sums_by_step(study.view()),
                        .warmup = steady.warmup,
                        .untraced = std::move(steady.untraced),
                        .is_traced = steady.is_traced};
}

}  // namespace

base::Result<analysis::Answer> compare(const ComparedSide& before, const ComparedSide& after,
                                       unsigned threads) {
  SCOPE_TRY(SteadyStateStudy one, steady_state(*before.recording, before.selection, threads));
  SCOPE_TRY(SteadyStateStudy other, steady_state(*after.recording, after.selection, threads));
  SCOPE_TRY(check_steps(before, one, other));
  SCOPE_TRY(check_steps(after, other, one));
  SCOPE_TRY(const analysis::Side a, side_of(before, std::move(one)));
  SCOPE_TRY(const analysis::Side b, side_of(after, std::move(other)));
  return analysis::diff(a, b, before.recording == after.recording);
}

}  // namespace stepscope::session
