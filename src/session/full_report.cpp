#include "session/full_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "report/sections.h"
#include "session/analyze.h"

namespace stepscope::session {
namespace {

// What the report asks for that is not an analysis' own default.
std::map<std::string, std::string> settings_for(const analysis::Analysis& about) {
  std::map<std::string, std::string> settings;
  for (const report::Setting& setting : report::report_settings()) {
    const bool has = std::ranges::find(about.parameters, setting.name,
                                       &analysis::Parameter::name) != about.parameters.end();
    if (has && setting.analysis == about.name) {
      settings[std::string(setting.name)] = std::string(setting.value);
    }
  }
  return settings;
}

}  // namespace

base::Result<report::Findings> full_report(const Recording& recording,
                                           const analysis::Selection& selection, unsigned threads) {
  SCOPE_TRY(const Study study, Study::prepare(recording, selection, threads));
  report::Findings findings;
  findings.info = report::summarize(recording.run);
  for (const analysis::Analysis* about : analysis::analyses()) {
    if (!analysis::why_not_answered(*about, study.view()).empty()) continue;
    SCOPE_TRY(analysis::Answer answer, study.ask(about->name, settings_for(*about)));
    findings.answers.push_back({about, std::move(answer)});
  }
  return findings;
}

}  // namespace stepscope::session
