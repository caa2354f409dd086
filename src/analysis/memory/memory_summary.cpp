// torch's summary of an allocator, of the recorded history: in use, held, peaks and totals.
// Definitions: docs/metrics/memory-summary.md.
#include <string>

#include "analysis/analysis.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/memory/pinned_host.h"
#include "analysis/memory/snapshot_remarks.h"
#include "analysis/memory/stats_summary.h"
#include "analysis/memory/summary_tables.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using allocator::Figure;
using allocator::Part;

void add_memory_summary_device(base::Table& table, const SnapshotView& view,
                               const HistoryWork& work) {
  const Allocated curve = allocated(work);
  const Replay& replay = work.replay;
  const std::size_t events = work.history->length();
  const base::Cell length = events == 0
                                ? base::Cell(base::Null{})
                                : base::Cell(time_of(work, static_cast<std::uint32_t>(events - 1)));
  table.add({view.rank, view.label, work.history->device, curve.peak_bytes,
             time_of(work, curve.peak), step_number(work, curve.peak),
             mean_over_time(work, curve.after), curve.end(), replay.peak_reserved.reserved,
             events == 0 ? base::Cell(base::Null{})
                         : base::Cell(time_of(work, replay.peak_reserved.event)),
             replay.end.reserved, replay.is_whole && work.allocations.cover_the_process(),
             work.allocations.older_bytes, work.allocations.older,
             curve.peak == kNoEvent ? base::Cell(base::Null{}) : base::Cell(curve.peak), events,
             length, replay.ooms.size(), base::Null{}});
}

void add_memory_summary_figures(base::Table& table, const SnapshotView& view,
                                const HistoryWork& work, std::span<const NamedStat> stats) {
  for (const NamedStat& named : stats) {
    for (std::size_t part = 0; part < kPoolNames.size(); ++part) {
      const Figure& figure = work.replay.statistics(named.stat, static_cast<Part>(part));
      table.add({view.rank, view.label, work.history->device, named.name, kPoolNames[part],
                 figure.current, figure.peak, figure.allocated, figure.freed});
    }
  }
}

Answer run_memory_summary(const RunView& view, const Options&) {
  Answer answer;
  for (const base::TableShape& shape : kSummaryShapes) answer.tables.emplace_back(shape);
  for (const SnapshotView& snapshot : view.snapshots) {
    for (const HistoryWork& work : work_of(snapshot).devices) {
      if (is_empty(work)) continue;
      add_memory_summary_device(answer.tables[kDeviceSummary], snapshot, work);
      add_memory_summary_figures(answer.tables[kByteSummary], snapshot, work, byte_stats());
      add_memory_summary_figures(answer.tables[kCountSummary], snapshot, work, count_stats());
      add_remarks(answer, snapshot, work);
      for (const std::string& remark : remarks_on(work.replay)) {
        answer.remarks.push_back(said_of(snapshot, work, remark + "."));
      }
    }
    add_pinned_host(answer.tables[kHostSummary], snapshot);
  }
  for (const StatsView& stats : view.stats) add_stats(answer, view, stats);
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemorySummary{
    .name = "memory-summary",
    .title = "Memory summary",
    .question = "How much memory was in use and held, and when was it the most?",
    .parameters = {},
    .tables = kSummaryShapes,
    .run = run_memory_summary,
    .needs = Needs::kSnapshotOrStats,
};

}  // namespace stepscope::analysis
