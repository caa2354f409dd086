// Prepares the view of a run and asks analyses.
#include "session/analyze.h"

#include <utility>

#include <fmt/format.h>

namespace stepscope::session {

base::Result<Study> Study::prepare(const OpenedRun& recording, const analysis::Selection& selection,
                                   unsigned threads) {
  SCOPE_TRY(analysis::RunView view,
            analysis::make_view(recording.run,
                                {recording.snapshots, recording.timelines, recording.stats},
                                selection, threads));
  view.nodes = recording.nodes;
  return Study(std::move(view));
}

base::Result<Study> Study::prepare(const trace::Run& run, const analysis::Selection& selection,
                                   unsigned threads) {
  SCOPE_TRY(analysis::RunView view, analysis::make_view(run, {}, selection, threads));
  return Study(std::move(view));
}

base::Result<analysis::Answer> Study::ask(std::string_view name,
                                          const std::map<std::string, std::string>& given) const {
  const analysis::Analysis* found = analysis::find_analysis(name);
  if (found == nullptr) {
    return base::fail(base::Code::kNotFound, "there is no analysis '" + std::string(name) + "'");
  }
  SCOPE_TRY(const analysis::Options options, analysis::parse_options(found->parameters, given));
  if (std::string why = analysis::why_not_answered(*found, view_); !why.empty()) {
    return analysis::unanswered(*found, std::move(why));
  }
  analysis::Answer answer = found->run(view_, options);
  for (const base::Table& table : answer.tables) {
    if (!table.fault().empty()) {
      return base::fail(
          base::Code::kUnsupported,
          fmt::format("{}: table '{}': {}; please report this", name, table.name(), table.fault()));
    }
  }
  return answer;
}

}  // namespace stepscope::session
