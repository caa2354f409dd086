// The questions of a page asked of one recording.
#pragma once

#include <map>
#include <string>

#include "advice/thresholds.h"
#include "analysis/view.h"
#include "base/result.h"
#include "report/info/info.h"
#include "report/page/page.h"
#include "report/page/sections.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::session {

struct ReportRequest {
  const report::PageKind* page = &report::kRunPage;
  // Also what the page has no place for: JSON and CSV hold it.
  bool everything = false;
  // By name: a value goes to every analysis that has such a parameter.
  std::map<std::string, std::string> settings = {};
  bool advice = true;                     // findings too, with the analyses they need
  bool sections = true;                   // false: only what findings need
  advice::OwnThresholds thresholds = {};  // of the user
  std::string paths = {};                 // as they were typed, for commands in findings
  base::Nanos step_ns = 0;                // without a profiler, as the user says; 0: not said
};

// What is wrong with a value for any analysis that has a parameter of that name.
base::Status check_setting(const std::string& name, const std::string& value);

// What the recording cannot answer is left out. Holds its own tables: the recording may go.
base::Result<report::Answers> full_report(const OpenedRun& recording,
                                          const analysis::Selection& selection,
                                          const ReportRequest& request, unsigned threads);

// Only what the first lines of a page are made of (report::kFirstAnalyses).
base::Result<report::Answers> first_answers(const OpenedRun& recording, const Study& study);

// What is said of a recording before any question is asked.

report::RecordedMemory memory_of(const OpenedRun& recording);

// With what was odd in any of its files.
report::RunInfo summary_of(const OpenedRun& recording);

// Without the files of memory, where they say themselves what was odd in them.
report::RunInfo summary_without_memory(const OpenedRun& recording);

}  // namespace stepscope::session
