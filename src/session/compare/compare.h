// Two runs, ranks or sets of steps side by side.
#pragma once

#include <string>

#include "analysis/analysis.h"
#include "analysis/compare/diff.h"
#include "analysis/view.h"
#include "base/result.h"
#include "session/session.h"

namespace stepscope::session {

struct ComparedSide {
  const Recording* recording = nullptr;
  analysis::Selection selection;  // without steps: all but the warm-up
  std::string name;               // as the user calls it
};

// The answer of analysis::kDiff.
base::Result<analysis::Answer> compare(const ComparedSide& before, const ComparedSide& after,
                                       unsigned threads);

}  // namespace stepscope::session
