// What an analysis needs, and the plain sentence where that was not recorded.

#include <utility>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

std::string names_of(Needs needs) {
  std::string names;
  for (const Analysis* analysis : analyses()) {
    if (analysis->needs == needs) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", analysis->name);
    }
  }
  return names;
}

}  // namespace

std::string why_not_answered(const Analysis& analysis, const RunView& view) {
  if (view.windows.empty() && view.snapshots.empty()) {
    return fmt::format("'{}' needs a {}, and there is none here.", analysis.name,
                       analysis.needs == Needs::kSnapshot ? "memory snapshot" : "trace");
  }
  if (analysis.needs == Needs::kTrace && view.windows.empty()) {
    const std::string others = names_of(Needs::kSnapshot);
    return fmt::format("'{}' needs a trace, and this is a memory snapshot{}{}.", analysis.name,
                       others.empty() ? "" : "; a snapshot answers: ", others);
  }
  if (analysis.needs == Needs::kSnapshot && view.snapshots.empty()) {
    return fmt::format(
        "'{}' needs a memory snapshot, and this is a trace; torch.cuda.memory._dump_snapshot "
        "writes one.",
        analysis.name);
  }
  return {};
}

Answer unanswered(const Analysis& analysis, std::string why) {
  Answer answer;
  for (const base::TableShape& shape : analysis.tables) answer.tables.emplace_back(shape);
  answer.remarks.push_back(std::move(why));
  return answer;
}

}  // namespace stepscope::analysis
