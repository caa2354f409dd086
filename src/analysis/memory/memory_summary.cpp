// torch's summary of an allocator, of the recorded history: in use, held, peaks and totals.
// Definitions: docs/metrics/memory-summary.md.
#include <array>
#include <string>

#include "analysis/analysis.h"
#include "analysis/memory/allocated.h"
#include "analysis/memory/snapshot_remarks.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using allocator::Figure;
using allocator::Part;
using allocator::Stat;
using base::Type;
using base::Unit;

constexpr std::array kDeviceColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "most allocated, as max_memory_allocated() counts"},
    {"peak_at_ns", Type::kInt, Unit::kInstant, "when it was reached, since the first event"},
    {"peak_step", Type::kInt, Unit::kId, "the step of the peak"},
    {"mean_bytes", Type::kReal, Unit::kBytes, "allocated, mean over time"},
    {"end_bytes", Type::kInt, Unit::kBytes, "allocated at the end"},
    {"peak_reserved_bytes", Type::kInt, Unit::kBytes, "most held from the driver"},
    {"peak_reserved_at_ns", Type::kInt, Unit::kInstant, "when that was first so"},
    {"end_reserved_bytes", Type::kInt, Unit::kBytes, "held from the driver at the end"},
    {"whole_process", Type::kBool, Unit::kNone,
     "nothing is older than the history: its figures are the process's"},
    {"older_bytes", Type::kInt, Unit::kBytes, "requested before the history began"},
    {"older_allocations", Type::kInt, Unit::kCount, "made before the history began"},
    {"peak_event", Type::kInt, Unit::kId, "place of the peak in the history"},
    {"events", Type::kInt, Unit::kCount, "in the history"},
    {"length_ns", Type::kInt, Unit::kNanos, "from the first event to the last"},
    {"ooms", Type::kInt, Unit::kCount, "requests that failed for want of memory"},
});

constexpr std::array kByteColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"memory", Type::kText, Unit::kNone,
     "allocated: the program has it; active: it cannot be handed out yet; requested: of that, what "
     "was asked for; reserved: held from the driver; non-releasable: free, in segments partly "
     "used"},
    {"pool", Type::kText, Unit::kNone, "all, or that of large or small requests (up to 1 MiB)"},
    {"now_bytes", Type::kInt, Unit::kBytes, "at the end of the history"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most"},
    {"total_allocated_bytes", Type::kInt, Unit::kBytes, "all that was added in the history"},
    {"total_freed_bytes", Type::kInt, Unit::kBytes, "all that was taken away in the history"},
});
constexpr std::array kCountColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"snapshot", Type::kText, Unit::kNone, "the file"},
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"of", Type::kText, Unit::kNone,
     "allocations the program has; active ones; segments held from the driver; free parts of "
     "segments that are partly used"},
    {"pool", Type::kText, Unit::kNone, "all, or that of large or small requests (up to 1 MiB)"},
    {"now", Type::kInt, Unit::kCount, "at the end of the history"},
    {"peak", Type::kInt, Unit::kCount, "the most"},
    {"total_made", Type::kInt, Unit::kCount, "all that were added in the history"},
    {"total_ended", Type::kInt, Unit::kCount, "all that were taken away in the history"},
});
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"devices", "one device: its peaks, and what the history covers", kDeviceColumns},
    {"bytes", "one sort of memory of one device, as torch's memory_summary has it", kByteColumns},
    {"counts", "one sort of pieces of one device, as torch's memory_summary has it", kCountColumns},
});

struct Named {
  Stat stat;
  std::string_view name;
};
constexpr std::array kBytes = {
    Named{Stat::kAllocatedBytes, "allocated"}, Named{Stat::kActiveBytes, "active"},
    Named{Stat::kRequestedBytes, "requested"}, Named{Stat::kReservedBytes, "reserved"},
    Named{Stat::kInactiveSplitBytes, "non-releasable"}};
constexpr std::array kCounts = {Named{Stat::kAllocation, "allocations"},
                                Named{Stat::kActive, "active allocations"},
                                Named{Stat::kSegment, "reserved segments"},
                                Named{Stat::kInactiveSplit, "non-releasable blocks"}};
constexpr std::array<std::string_view, 3> kPools = {"all", "large", "small"};

void add_device(base::Table& table, const SnapshotView& view, const HistoryWork& work) {
  const Allocated curve = allocated(work);
  const Followed& followed = work.followed;
  const std::size_t events = work.history->length();
  const base::Cell length = events == 0
                                ? base::Cell(base::Null{})
                                : base::Cell(time_of(work, static_cast<std::uint32_t>(events - 1)));
  table.add({view.rank, view.label, work.history->device, curve.peak_bytes,
             time_of(work, curve.peak), step_number(work, curve.peak),
             mean_over_time(work, curve.after), curve.end(), followed.peak_reserved.reserved,
             events == 0 ? base::Cell(base::Null{})
                         : base::Cell(time_of(work, followed.peak_reserved.event)),
             followed.end.reserved, followed.is_whole && work.lives.cover_the_process(),
             work.lives.older_bytes, work.lives.older,
             curve.peak == kNoEvent ? base::Cell(base::Null{}) : base::Cell(curve.peak), events,
             length, followed.ooms.size()});
}

void add_figures(base::Table& table, const SnapshotView& view, const HistoryWork& work,
                 std::span<const Named> stats) {
  for (const Named& named : stats) {
    for (std::size_t part = 0; part < kPools.size(); ++part) {
      const Figure& figure = work.followed.statistics(named.stat, static_cast<Part>(part));
      table.add({view.rank, view.label, work.history->device, named.name, kPools[part],
                 figure.current, figure.peak, figure.allocated, figure.freed});
    }
  }
}

Answer run(const RunView& view, const Options&) {
  Answer answer;
  for (const base::TableShape& shape : kTables) answer.tables.emplace_back(shape);
  for (const SnapshotView& snapshot : view.snapshots) {
    for (const HistoryWork& work : work_of(snapshot).devices) {
      if (is_empty(work)) continue;
      add_device(answer.tables[0], snapshot, work);
      add_figures(answer.tables[1], snapshot, work, kBytes);
      add_figures(answer.tables[2], snapshot, work, kCounts);
      add_remarks(answer, snapshot, work);
      for (const std::string& remark : remarks_on(work.followed)) {
        answer.remarks.push_back(said_of(snapshot, work, remark + "."));
      }
    }
  }
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemorySummary{
    .name = "memory-summary",
    .title = "Memory summary",
    .question = "How much memory was in use and held, and when was it the most?",
    .parameters = {},
    .tables = kTables,
    .run = run,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
