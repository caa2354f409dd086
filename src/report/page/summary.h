// The first lines of the report for programs: what to show before anything else, in the words and
// numbers of the report.
#pragma once

#include <string>

#include "report/page/page.h"

namespace stepscope::report {

// "stepscope.summary/1", described in docs/formats/http-api.md. Of the answers it reads those of
// kFirstAnalyses.
std::string summary_json(const Answers& answers);

}  // namespace stepscope::report
