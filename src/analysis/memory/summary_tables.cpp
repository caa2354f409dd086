#include "analysis/memory/summary_tables.h"

#include "analysis/key_columns.h"

namespace stepscope::analysis {
namespace {

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

}  // namespace

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

}  // namespace stepscope::analysis
