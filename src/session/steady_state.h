// Questions about the steps of a run that are not warm-up.
#pragma once

#include <cstddef>

#include "analysis/compare/untraced.h"
#include "analysis/view.h"
#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::session {

struct SteadyStateStudy {
  Study study;             // of traced steps, or where nothing was traced of recorded ones
  std::size_t warmup = 0;  // steps that were left out of it
  analysis::UntracedSteps untraced = {};  // of a recording, where there are enough of them
  bool marks_steps = false;               // somebody marked steps: they are none of ours
  bool is_traced = false;                 // a profiler ran during the steps of the study
};

// Steps that the selection names are taken as they are; a trace that marks none, whole.
base::Result<SteadyStateStudy> steady_state(const Recording& recording,
                                            analysis::Selection selection, unsigned threads);

}  // namespace stepscope::session
