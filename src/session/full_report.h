// Every analysis asked of one run, for the page to read first.
#pragma once

#include <map>
#include <string>

#include "analysis/view.h"
#include "base/result.h"
#include "report/page.h"
#include "session/session.h"

namespace stepscope::session {

// What the recording cannot answer is left out. Holds its own tables: the recording may go.
base::Result<report::Findings> full_report(const Recording& recording,
                                           const analysis::Selection& selection, unsigned threads);

// What is wrong with a value for all analyses that have a parameter of that name.
base::Status check_setting(const std::string& name, const std::string& value);

// The same of memory snapshots. The settings go to every analysis that has a parameter of that
// name.
base::Result<report::Findings> memory_report(const Recording& recording,
                                             const analysis::Selection& selection,
                                             const std::map<std::string, std::string>& settings,
                                             unsigned threads);

}  // namespace stepscope::session
