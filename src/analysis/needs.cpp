// What an analysis needs, and the plain sentence where that was not recorded.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/view.h"
#include "series/node.h"

namespace stepscope::analysis {
namespace {

bool has_needs(const RunView& view, Needs needs) {
  switch (needs) {
    case Needs::kTrace:
      return !view.windows.empty();
    case Needs::kSnapshot:
      return !view.snapshots.empty();
    case Needs::kSnapshotOrTimeline:
      return !view.snapshots.empty() || !view.timelines.empty();
    case Needs::kSnapshotOrStats:
      return !view.snapshots.empty() || !view.stats.empty();
    case Needs::kRecording:
      return !view.recordings.empty();
    case Needs::kSystem:
      return !view.nodes.empty();
    case Needs::kEither:
      break;
  }
  return !view.windows.empty() || !view.snapshots.empty() || !view.timelines.empty() ||
         !view.stats.empty();
}

std::string_view text_of(Needs needs) {
  switch (needs) {
    case Needs::kSnapshot:
      return "a memory snapshot";
    case Needs::kSnapshotOrTimeline:
      return "a memory snapshot or an exported memory timeline";
    case Needs::kSnapshotOrStats:
      return "a memory snapshot or the figures of torch.cuda.memory_stats";
    case Needs::kRecording:
      return "a recording by stepscope";
    case Needs::kSystem:
      return "samples of the machine";
    case Needs::kTrace:
    case Needs::kEither:
      break;
  }
  return "a trace";
}

std::string what_is_here(const RunView& view) {
  std::vector<std::string_view> here;
  if (view.has_trace()) here.emplace_back("a trace");
  if (!view.recordings.empty()) here.emplace_back("a recording by stepscope");
  if (!view.nodes.empty()) here.emplace_back("samples of the machine");
  if (!view.snapshots.empty()) here.emplace_back("a memory snapshot");
  if (!view.timelines.empty()) here.emplace_back("an exported memory timeline");
  if (!view.stats.empty()) here.emplace_back("memory statistics");
  return fmt::format("{}", fmt::join(here, " and "));
}

// The analyses of memory that what is here answers.
std::string answered_by(const RunView& view) {
  std::vector<std::string_view> names;
  for (const Analysis* analysis : analyses()) {
    if (is_of_memory(analysis->needs) && has_needs(view, analysis->needs)) {
      names.push_back(analysis->name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string why_not_answered(const Analysis& analysis, const RunView& view) {
  if (has_needs(view, analysis.needs)) return {};
  const std::string here = what_is_here(view);
  if (here.empty()) {
    return fmt::format("'{}' needs {}, and there is none here.", analysis.name,
                       text_of(analysis.needs));
  }
  std::string why =
      fmt::format("'{}' needs {}, and this is {}", analysis.name, text_of(analysis.needs), here);
  if (is_of_memory(analysis.needs)) why += "; torch.cuda.memory._dump_snapshot writes one";
  if (analysis.needs == Needs::kRecording) {
    why +=
        "; stepscope.profile and stepscope.range make one (for the ranges of a trace: "
        "'annotations')";
  }
  if (analysis.needs == Needs::kSystem) {
    why += "; stepscope.profile takes them unless it is given system=False";
  }
  const std::string answers = view.windows.empty() ? answered_by(view) : std::string();
  if (!answers.empty()) why += "; this answers: " + answers;
  return why + ".";
}

Answer unanswered(const Analysis& analysis, std::string why) {
  Answer answer;
  for (const base::TableShape& shape : analysis.tables) answer.tables.emplace_back(shape);
  answer.remarks.push_back(std::move(why));
  return answer;
}

}  // namespace stepscope::analysis
