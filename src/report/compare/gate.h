// The outcome of `stepscope check` as people, CI systems and programs read it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "analysis/compare/gate.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// What was judged, and by what.
struct GateReport {
  std::vector<analysis::Judged> judged;
  std::vector<analysis::RunSamples> before, after;
  analysis::GateRules rules = {};

  std::size_t count(analysis::Outcome outcome) const;
  bool nothing_judged() const { return count(analysis::Outcome::kNotJudged) == judged.size(); }
  // A gate that could judge nothing, or not all that somebody wrote down, has let nothing through.
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
