// A comparison as people and machines read it. It opens with the sentence that says it all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "report/page/page.h"

namespace stepscope::report {

// "step 41.5 → 52.0 ms (+25 % ± 2 %); 9.1 ms of it: DataLoader"
std::string diff_sentence(const analysis::Answer& diff);

// The answers hold that of analysis::kDiff alone, and must outlive the page. `paths` are those
// given, for the commands to run next.
Page make_diff_page(const Answers& answers, std::span<const std::string> paths);

// "stepscope.diff/1", described in docs/cli/diff.md.
std::string diff_json(const analysis::Answer& diff);

}  // namespace stepscope::report
