// Questions about the steps of a run that are not warm-up.
#pragma once

#include <cstddef>

#include "analysis/view.h"
#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::session {

struct SettledStudy {
  Study study;
  std::size_t warmup = 0;  // steps that were left out
};

// Steps that the selection names are taken as they are; a recording that marks none, whole.
base::Result<SettledStudy> settle(const Recording& recording, analysis::Selection selection,
                                  unsigned threads);

}  // namespace stepscope::session
