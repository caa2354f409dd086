#include "session/compare.h"

#include <utility>

#include "analysis/compare/launched.h"
#include "session/settled.h"

namespace stepscope::session {
namespace {

base::Result<analysis::Side> side_of(const ComparedSide& asked, unsigned threads) {
  SCOPE_TRY(const SettledStudy settled, settle(*asked.recording, asked.selection, threads));
  const Study& study = settled.study;
  SCOPE_TRY(analysis::Answer steps, study.ask("steps"));
  SCOPE_TRY(analysis::Answer operators, study.ask("operators", {{"top", "0"}}));
  SCOPE_TRY(analysis::Answer overview, study.ask("overview"));
  return analysis::Side{.name = asked.name,
                        .steps = std::move(steps),
                        .operators = std::move(operators),
                        .overview = std::move(overview),
                        .launched = analysis::launched_work(study.view()),
                        .warmup = settled.warmup};
}

}  // namespace

base::Result<analysis::Answer> compare(const ComparedSide& before, const ComparedSide& after,
                                       unsigned threads) {
  SCOPE_TRY(const analysis::Side a, side_of(before, threads));
  SCOPE_TRY(const analysis::Side b, side_of(after, threads));
  return analysis::diff(a, b, before.recording == after.recording);
}

}  // namespace stepscope::session
