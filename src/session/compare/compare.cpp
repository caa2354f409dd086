#include "session/compare/compare.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/compare/launched.h"
#include "session/steady_state.h"

namespace stepscope::session {
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
