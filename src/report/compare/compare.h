// A comparison as people and machines read it. It opens with the sentence that says it all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/compare/gate.h"
#include "report/page/page.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// "step 41.5 → 52.0 ms (+25 % ± 2 %); 9.1 ms of it: DataLoader"
std::string diff_sentence(const analysis::Answer& diff);

// The answers hold that of analysis::kDiff alone, and must outlive the page. `paths` are those
// given, for the commands to run next.
Page make_diff_page(const Answers& answers, std::span<const std::string> paths);

// "stepscope.diff/1", described in docs/cli/diff.md.
std::string diff_json(const analysis::Answer& diff);

// The outcome of `stepscope check` as people, CI systems and programs read it.

// What was judged, and by what.
struct GateReport {
  std::vector<analysis::Judged> judged;
  std::vector<analysis::RunSamples> before, after;
  analysis::GateRules rules = {};

  std::size_t count(analysis::Outcome outcome) const;
  bool nothing_judged() const { return count(analysis::Outcome::kNotJudged) == judged.size(); }
  // A gate that could judge nothing, or not all limits of its file, has let nothing through.
  bool failed() const;
};

// "failed: step_time", "passed: 4 limits"
std::string gate_verdict(const GateReport& report);
// "step_time 19.2 → 20.4 ms (+6.2 % ± 2.6 %); allowed: +0 %"
std::string judged_text(const analysis::Judged& judged);

std::string gate_text(const GateReport& report, const Look& look);
std::string gate_md(const GateReport& report);
// "stepscope.check/1", described in docs/cli/check.md.
std::string gate_json(const GateReport& report);
std::string gate_junit(const GateReport& report);
// Workflow commands, which GitHub shows as annotations.
std::string gate_github(const GateReport& report);

}  // namespace stepscope::report
