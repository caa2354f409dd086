#include "analysis/memory/snapshot_remarks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/standard_input.h"

namespace stepscope::analysis {

bool is_empty(const HistoryWork& work) {
  return work.history->length() == 0 && work.allocations.list.empty();
}

std::string said_of(const SnapshotView& view, const HistoryWork& work, std::string_view what) {
  return fmt::format("{}, device {}: {}", base::name_of_input(view.label), work.history->device,
                     what);
}

void say_if_nothing(Answer& answer) {
  if (answer.tables[0].rows() > 0 || !answer.remarks.empty()) return;
  answer.remarks.emplace_back("Nothing was allocated in what was recorded.");
}

void say_if_counted(Answer& answer, const SnapshotView& view, const HistoryWork& work) {
  if (!work.steps.counted) return;
  answer.remarks.push_back(said_of(
      view, work,
      "the program's own step numbers repeat or fall, so steps are counted by place, from 0."));
}

void add_remarks(Answer& answer, const SnapshotView& view, const HistoryWork& work) {
  const auto say = [&](std::string_view what) {
    answer.remarks.push_back(said_of(view, work, what));
  };
  const Allocations& allocations = work.allocations;
  if (allocations.older > 0) {
    say(
        fmt::format("{} {} of {:.1f} MiB in all {} older than the recorded history; peaks and "
                    "totals are of the history.",
                    allocations.older, allocations.older == 1 ? "allocation" : "allocations",
                    static_cast<double>(allocations.older_bytes) / (1 << 20),
                    allocations.older == 1 ? "is" : "are"));
  }
  for (const std::string& remark : remarks_on(allocations, *view.snapshot)) say(remark);
  say_if_counted(answer, view, work);
  const bool has_allocations = allocations.list.size() > allocations.older;
  if (has_allocations && !work.categories.passes.has_stacks) {
    say("no stacks were recorded, so nothing is known of what the memory holds.");
  }
}

}  // namespace stepscope::analysis
