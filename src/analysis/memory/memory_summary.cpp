// torch's summary of an allocator, of the recorded history: in use, held, peaks and totals.
// Definitions: docs/metrics/memory-summary.md.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/allocator/blocks.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/memory/history/allocations.h"
#include "analysis/memory/snapshot_view.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "base/table.h"
#include "memory/snapshot.h"
#include "memory/stats.h"

namespace stepscope::analysis {
namespace {

// The tables of memory-summary, and what its rows are called.

enum SummaryTable : std::size_t {
  kDeviceSummary,
  kByteSummary,
  kCountSummary,
  kHostSummary,
  kAgreement,
  kSummaryTables
};
extern const std::array<base::TableShape, kSummaryTables> kSummaryShapes;

struct NamedStat {
  allocator::Stat stat;
  std::string_view name;
};
std::span<const NamedStat> byte_stats();
std::span<const NamedStat> count_stats();

// By allocator::Part.
constexpr std::array<std::string_view, 3> kPoolNames = {"all", "large", "small"};

using allocator::Stat;
using base::Type;
using base::Unit;

constexpr std::array kSummaryTablesDeviceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    {"device", Type::kInt, Unit::kId, "number of the device; null: memory_stats does not tell"},
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
    {"retries", Type::kInt, Unit::kCount,
     "times all unused memory was returned to the driver to ask again; only memory_stats tells"},
});

constexpr std::array kByteColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    {"device", Type::kInt, Unit::kId, "number of the device; null: memory_stats does not tell"},
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
    key::kRank,
    key::kSnapshot,
    {"device", Type::kInt, Unit::kId, "number of the device; null: memory_stats does not tell"},
    {"of", Type::kText, Unit::kNone,
     "allocations the program has; active ones; segments held from the driver; free parts of "
     "segments that are partly used"},
    {"pool", Type::kText, Unit::kNone, "all, or that of large or small requests (up to 1 MiB)"},
    {"now", Type::kInt, Unit::kCount, "at the end of the history"},
    {"peak", Type::kInt, Unit::kCount, "the most"},
    {"total_made", Type::kInt, Unit::kCount, "all that were added in the history"},
    {"total_ended", Type::kInt, Unit::kCount, "all that were taken away in the history"},
});
constexpr std::array kHostColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    {"now_bytes", Type::kInt, Unit::kBytes, "in use at the end of the history, as asked for"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most that was in use"},
    {"peak_at_ns", Type::kInt, Unit::kInstant, "when that was first so, since the first event"},
    {"total_allocated_bytes", Type::kInt, Unit::kBytes, "all that was asked for in the history"},
    {"allocations", Type::kInt, Unit::kCount, "requests in the history"},
    {"held_bytes", Type::kInt, Unit::kBytes, "page-locked by the allocator at the end"},
    {"segments", Type::kInt, Unit::kCount, "pieces it is held in"},
    {"events", Type::kInt, Unit::kCount, "in the history"},
});
constexpr std::array kAgreementColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"snapshot", Type::kText, Unit::kId, "the file of the snapshot"},
    {"stats", Type::kText, Unit::kNone, "the file of torch.cuda.memory_stats"},
    key::kDevice,
    {"figure", Type::kText, Unit::kNone, "its key in memory_stats"},
    {"snapshot_value", Type::kInt, Unit::kNone, "worked out of the snapshot's history"},
    {"stats_value", Type::kInt, Unit::kNone, "what torch said"},
    {"agrees", Type::kBool, Unit::kNone, "whether they are the same"},
});
constexpr std::array kByteStats = {
    NamedStat{Stat::kAllocatedBytes, "allocated"}, NamedStat{Stat::kActiveBytes, "active"},
    NamedStat{Stat::kRequestedBytes, "requested"}, NamedStat{Stat::kReservedBytes, "reserved"},
    NamedStat{Stat::kInactiveSplitBytes, "non-releasable"}};
constexpr std::array kCountStats = {NamedStat{Stat::kAllocation, "allocations"},
                                    NamedStat{Stat::kActive, "active allocations"},
                                    NamedStat{Stat::kSegment, "reserved segments"},
                                    NamedStat{Stat::kInactiveSplit, "non-releasable blocks"}};

std::span<const NamedStat> byte_stats() { return kByteStats; }
std::span<const NamedStat> count_stats() { return kCountStats; }

const std::array<base::TableShape, kSummaryTables> kSummaryShapes = {{
    {"devices", "one device: its peaks, and what the history covers", kSummaryTablesDeviceColumns},
    {"bytes", "one sort of memory of one device, as torch's memory_summary has it", kByteColumns},
    {"counts", "one sort of pieces of one device, as torch's memory_summary has it", kCountColumns},
    {"pinned-host", "page-locked memory of the host that one process took for copies",
     kHostColumns},
    {"agreement", "a figure that a snapshot and torch.cuda.memory_stats both have",
     kAgreementColumns},
}};

// What torch.cuda.memory_stats said as rows of memory-summary, and whether a snapshot of the same
// process says the same.

using allocator::Figure;
using allocator::Part;
using base::Null;

struct Facet {
  std::string_view key;
  std::int64_t Figure::* value;
};
constexpr std::array kFacets = {Facet{"current", &Figure::current}, Facet{"peak", &Figure::peak},
                                Facet{"allocated", &Figure::allocated},
                                Facet{"freed", &Figure::freed}};

std::string stats_summary_key_of(std::string_view stat, std::string_view part,
                                 std::string_view facet) {
  return fmt::format("{}.{}.{}", stat, part, facet);
}

void add_stats_summary_row(base::Table& table, const StatsView& view, std::string_view name,
                           std::string_view pool, std::string_view prefix) {
  std::array<std::optional<std::int64_t>, kFacets.size()> found;
  for (std::size_t i = 0; i < kFacets.size(); ++i) {
    found[i] = view.stats->find(fmt::format("{}.{}", prefix, kFacets[i].key));
  }
  if (std::ranges::none_of(found, [](const auto& value) { return value.has_value(); })) return;
  table.add({view.rank, view.label, Null{}, name, pool, found[0], found[1], found[2], found[3]});
}

void add_stats_summary_figures(base::Table& table, const StatsView& view,
                               std::span<const NamedStat> stats) {
  for (const NamedStat& named : stats) {
    for (std::size_t part = 0; part < kPoolNames.size(); ++part) {
      add_stats_summary_row(
          table, view, named.name, kPoolNames[part],
          fmt::format("{}.{}", name_of(named.stat), name_of(static_cast<Part>(part))));
    }
  }
}

void add_stats_summary_device(base::Table& table, const StatsView& view) {
  const auto find = [&](std::string_view key) { return view.stats->find(key); };
  table.add({view.rank, view.label, Null{}, find("allocated_bytes.all.peak"), Null{}, Null{},
             Null{}, find("allocated_bytes.all.current"), find("reserved_bytes.all.peak"), Null{},
             find("reserved_bytes.all.current"), Null{}, Null{}, Null{}, Null{}, Null{}, Null{},
             find("num_ooms"), find("num_alloc_retries")});
}

// "run1.pickle.gz" and "run1.stats.json" → "run1".
std::string_view stem_of(std::string_view label) {
  label = label.substr(label.rfind('/') + 1);
  return label.substr(0, label.find('.'));
}

// The snapshots that may be of the process the figures are of: of its rank, and where there are
// several, of its name.
std::vector<const SnapshotView*> snapshots_beside(const RunView& view, const StatsView& stats) {
  std::vector<const SnapshotView*> found;
  for (const SnapshotView& snapshot : view.snapshots) {
    if (snapshot.rank == stats.rank) found.push_back(&snapshot);
  }
  if (found.size() < 2) return found;
  std::erase_if(found, [&](const SnapshotView* snapshot) {
    return stem_of(snapshot->label) != stem_of(stats.label);
  });
  return found;
}

struct Agreement {
  std::size_t compared = 0, equal = 0;
  std::string first;  // that differs
};

void compare(base::Table& table, const SnapshotView& snapshot, const HistoryWork& work,
             const StatsView& stats, bool is_whole, Agreement& agreement) {
  const auto add = [&](const std::string& key, std::int64_t ours) {
    const std::optional<std::int64_t> theirs = stats.stats->find(key);
    if (!theirs) return;
    const bool agrees = ours == *theirs;
    ++agreement.compared;
    agreement.equal += agrees ? 1 : 0;
    if (!agrees && agreement.first.empty()) {
      agreement.first = fmt::format("{} is {} here and {} there", key, ours, *theirs);
    }
    table.add({snapshot.rank, snapshot.label, stats.label, work.history->device, key, ours, *theirs,
               agrees});
  };
  for (const auto& stats_of : {byte_stats(), count_stats()}) {
    for (const NamedStat& named : stats_of) {
      for (std::size_t p = 0; p < kPoolNames.size(); ++p) {
        const auto part = static_cast<Part>(p);
        const Figure& figure = work.replay.statistics(named.stat, part);
        for (const Facet& facet : kFacets) {
          if (!is_whole && facet.key != "current") continue;
          add(stats_summary_key_of(name_of(named.stat), name_of(part), facet.key),
              figure.*facet.value);
        }
      }
    }
  }
  if (is_whole) add("num_ooms", static_cast<std::int64_t>(work.replay.ooms.size()));
}

void add_agreement(Answer& answer, const RunView& view, const StatsView& stats) {
  const auto add_remark = [&](std::string_view what) {
    answer.remarks.push_back(fmt::format("{}: {}", stats.label, what));
  };
  if (view.snapshots.empty()) return;
  const std::vector<const SnapshotView*> beside = snapshots_beside(view, stats);
  if (beside.size() != 1) {
    add_remark(
        "which snapshot is of the same process is not known, so they are not compared (the same "
        "name up to the first point tells it).");
    return;
  }
  const SnapshotView& snapshot = *beside.front();
  std::vector<const HistoryWork*> devices;
  for (const HistoryWork& work : work_of(snapshot).devices) {
    if (!is_empty(work)) devices.push_back(&work);
  }
  if (devices.size() != 1) {
    add_remark(devices.empty()
                   ? "the snapshot beside it is empty."
                   : "it does not say of which device it is, and the snapshot has several, so "
                     "they are not compared.");
    return;
  }
  const HistoryWork& work = *devices.front();
  const bool is_whole = work.replay.is_whole && work.allocations.cover_the_process();
  Agreement agreement;
  compare(answer.tables[kAgreement], snapshot, work, stats, is_whole, agreement);
  const std::string_view covered =
      is_whole ? ""
               : " (what is in use now; peaks and totals of the process are older than the "
                 "history)";
  if (agreement.equal == agreement.compared) {
    add_remark(fmt::format("it agrees with {} in all {} figures{}.", snapshot.label,
                           agreement.compared, covered));
  } else {
    add_remark(
        fmt::format("it differs from {} in {} of {} figures{}: {}. They were taken at different "
                    "moments, of different processes, or the figures were reset in between.",
                    snapshot.label, agreement.compared - agreement.equal, agreement.compared,
                    covered, agreement.first));
  }
}

void add_stats(Answer& answer, const RunView& view, const StatsView& stats) {
  add_stats_summary_device(answer.tables[kDeviceSummary], stats);
  add_stats_summary_figures(answer.tables[kByteSummary], stats, byte_stats());
  add_stats_summary_figures(answer.tables[kCountSummary], stats, count_stats());
  // Requests above the largest size that is cut; snapshots do not tell them.
  base::Table& counts = answer.tables[kCountSummary];
  add_stats_summary_row(counts, stats, "oversize allocations", kPoolNames[0],
                        "oversize_allocations");
  add_stats_summary_row(counts, stats, "oversize segments", kPoolNames[0], "oversize_segments");
  add_agreement(answer, view, stats);
}

// Page-locked memory of the host: what one process took for copies to and from devices. It has an
// allocator of its own, of which only the requests are known.

struct HostSegments {
  base::Bytes held = 0;
  std::uint64_t count = 0;
};

HostSegments segments_of(const memory::Snapshot& snapshot, std::int32_t device) {
  HostSegments out;
  for (const memory::Segment& segment : snapshot.segments) {
    if (!segment.is_host || segment.device != device) continue;
    out.held += segment.total;
    ++out.count;
  }
  return out;
}

void add_history(base::Table& table, const SnapshotView& view, const memory::History& history) {
  const HostSegments segments = segments_of(*view.snapshot, history.device);
  if (history.length() == 0 && segments.count == 0) return;
  const Allocations allocations = find_allocations(*view.snapshot, history);
  base::Bytes before = 0;
  base::Bytes total = 0;
  for (const Allocation& life : allocations.list) {
    if (!life.is_older()) {
      total += life.requested;
    } else if (!life.let_go_before) {
      before += life.requested;
    }
  }
  const std::vector<base::Bytes> after = live_bytes(allocations, history);
  const auto peak = std::ranges::max_element(after);
  const bool at_the_start = peak == after.end() || before >= *peak;
  base::Cell when = base::Null{};
  if (!at_the_start && history.time[0] != memory::kNoTime) {
    when = history.time[static_cast<std::size_t>(peak - after.begin())] - history.time[0];
  }
  table.add({view.rank, view.label, after.empty() ? before : after.back(),
             at_the_start ? before : *peak, when, total,
             allocations.list.size() - allocations.older, segments.held, segments.count,
             history.length()});
}

// A row of memory-summary's table pinned-host, where the snapshot has any.
void add_pinned_host(base::Table& table, const SnapshotView& view) {
  bool has_history = false;
  for (const memory::History& history : view.snapshot->histories) {
    if (!history.is_host) continue;
    has_history = true;
    add_history(table, view, history);
  }
  const HostSegments segments = segments_of(*view.snapshot, 0);
  if (has_history || segments.count == 0) return;
  table.add({view.rank, view.label, base::Null{}, base::Null{}, base::Null{}, base::Null{},
             base::Null{}, segments.held, segments.count, 0});
}

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
