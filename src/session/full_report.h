// Every analysis asked of one run, for the page to read first.
#pragma once

#include "analysis/view.h"
#include "base/result.h"
#include "report/page.h"
#include "session/session.h"

namespace stepscope::session {

// What the recording cannot answer is left out. Holds its own tables: the recording may go.
base::Result<report::Findings> full_report(const Recording& recording,
                                           const analysis::Selection& selection, unsigned threads);

}  // namespace stepscope::session
