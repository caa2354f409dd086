#include "session/full_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "report/recorded_memory.h"
#include "report/sections.h"
#include "session/analyze.h"

namespace stepscope::session {
namespace {

using Settings = std::map<std::string, std::string>;

bool has_parameter(const analysis::Analysis& about, std::string_view name) {
  return std::ranges::find(about.parameters, name, &analysis::Parameter::name) !=
         about.parameters.end();
}

// What the report asks for that is not an analysis' own default.
Settings settings_for(const analysis::Analysis& about) {
  Settings settings;
  for (const report::Setting& setting : report::report_settings()) {
    if (setting.analysis == about.name && has_parameter(about, setting.name)) {
      settings[std::string(setting.name)] = std::string(setting.value);
    }
  }
  return settings;
}

}  // namespace

base::Status check_setting(const std::string& name, const std::string& value) {
  for (const analysis::Analysis* about : analysis::analyses()) {
    if (!has_parameter(*about, name)) continue;
    SCOPE_TRY(analysis::parse_options(about->parameters, {{name, value}}));
  }
  return base::Done{};
}

base::Result<report::Findings> full_report(const Recording& recording,
                                           const analysis::Selection& selection, unsigned threads) {
  SCOPE_TRY(const Study study, Study::prepare(recording, selection, threads));
  report::Findings findings;
  findings.info =
      report::summarize(recording.run, {recording.snapshots, recording.timelines, recording.stats});
  for (const analysis::Analysis* about : analysis::analyses()) {
    if (!analysis::why_not_answered(*about, study.view()).empty()) continue;
    SCOPE_TRY(analysis::Answer answer, study.ask(about->name, settings_for(*about)));
    findings.answers.push_back({about, std::move(answer)});
  }
  return findings;
}

base::Result<report::Findings> memory_report(const Recording& recording,
                                             const analysis::Selection& selection,
                                             const Settings& settings, unsigned threads) {
  SCOPE_TRY(const Study study, Study::prepare(recording, selection, threads));
  report::Findings findings;
  findings.info =
      report::summarize(recording.run, {recording.snapshots, recording.timelines, recording.stats});
  for (const analysis::Analysis* about : analysis::analyses()) {
    if (about->needs != analysis::Needs::kSnapshot) continue;
    // Comparing needs two, and listing every allocation is no summary.
    if (about->name == "memory-diff" && study.view().snapshots.size() < 2) continue;
    if (about->name == "memory-allocations") continue;
    Settings its_own;
    for (const auto& [name, value] : settings) {
      if (has_parameter(*about, name)) its_own[name] = value;
    }
    SCOPE_TRY(analysis::Answer answer, study.ask(about->name, its_own));
    findings.answers.push_back({about, std::move(answer)});
  }
  return findings;
}

}  // namespace stepscope::session
