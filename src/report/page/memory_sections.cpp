// What `stepscope memory` shows and in which order.
#include <array>

#include "report/page/sections.h"

namespace stepscope::report {
namespace {

template <std::size_t N>
using Names = std::array<std::string_view, N>;

constexpr Names<7> kFailureColumns = {"snapshot",       "device", "where",         "asked_bytes",
                                      "short_by_bytes", "why",    "unusable_bytes"};
constexpr Names<6> kWayColumns = {"snapshot", "device", "failure", "way", "enough", "saves_bytes"};
constexpr Names<6> kAliveColumns = {"snapshot", "device", "where", "category", "bytes", "share"};
constexpr std::array kFailed = std::to_array<Part>({
    {.analysis = "memory-oom",
     .table = "failures",
     .columns = kFailureColumns,
     .rows = 5,
     .quiet = true},
    {.analysis = "memory-oom",
     .table = "remedies",
     .columns = kWayColumns,
     .rows = 8,
     .caption = "What would have made room, the cheapest first:",
     .quiet = true},
    {.analysis = "memory-oom",
     .table = "alive",
     .columns = kAliveColumns,
     .rows = 8,
     .caption = "What was in use at that moment:",
     .quiet = true},
});

constexpr std::array kTime = std::to_array<Part>({
    {.analysis = "memory-timeline", .table = "timeline", .shown = Shown::kChart},
    {.analysis = "memory-timeline",
     .table = "stacks",
     .shown = Shown::kChart,
     .rows = 60,
     .caption = "By the line of the program that asked for it:",
     .only_html = true},
    {.analysis = "memory-timeline",
     .table = "modules",
     .shown = Shown::kChart,
     .rows = 60,
     .caption = "By the module that asked for it:",
     .only_html = true},
    {.analysis = "memory-timeline",
     .table = "annotations",
     .shown = Shown::kChart,
     .rows = 60,
     .caption = "By the annotation it was made in:",
     .only_html = true},
    {.analysis = "memory-timeline",
     .table = "steps",
     .caption = "Step by step",
     .only_html = true,
     .folded = true},
});

constexpr Names<7> kStackColumns = {"snapshot", "device", "where",      "category",
                                    "bytes",    "share",  "allocations"};
constexpr Names<6> kCategoryColumns = {"snapshot", "device", "category",
                                       "bytes",    "share",  "allocations"};
constexpr std::array kPeak = std::to_array<Part>({
    {.analysis = "memory-peak", .table = "categories", .columns = kCategoryColumns},
    {.analysis = "memory-peak",
     .table = "stacks",
     .columns = kStackColumns,
     .rows = 10,
     .caption = "By the line of the program that asked for it:"},
});

constexpr Names<7> kLeakColumns = {"snapshot",       "device",     "where",   "bytes_per_step",
                                   "count_per_step", "confidence", "category"};
constexpr std::array kLeaks = std::to_array<Part>({
    {.analysis = "memory-leaks", .table = "leaks", .columns = kLeakColumns, .rows = 8},
    {.analysis = "memory-leaks",
     .table = "growth",
     .shown = Shown::kSpark,
     .caption = "In use when each step ends, in the bytes the program requested (blocks are a "
                "little larger); the last step need not be over:"},
});

constexpr Names<8> kMomentColumns = {"snapshot",
                                     "device",
                                     "moment",
                                     "reserved_bytes",
                                     "unused_bytes",
                                     "unused_share",
                                     "largest_free_bytes",
                                     "unreturnable_bytes"};
constexpr Names<6> kSettingColumns = {
    "snapshot", "device", "setting", "peak_reserved_bytes", "saved_bytes", "driver_allocs"};
constexpr Names<6> kPinColumns = {"snapshot",      "device",    "free_bytes",
                                  "segment_bytes", "pin_bytes", "where"};
constexpr std::array kWaste = std::to_array<Part>({
    {.analysis = "memory-fragmentation", .table = "moments", .columns = kMomentColumns},
    {.analysis = "memory-fragmentation",
     .table = "settings",
     .columns = kSettingColumns,
     .caption =
         "The recorded requests served again under other settings of the allocator; slack is "
         "what a block has beyond its request:"},
    {.analysis = "memory-fragmentation",
     .table = "pinned-segments",
     .columns = kPinColumns,
     .rows = 6,
     .caption = "Segments that cannot be returned, and the smallest block that holds each:"},
    {.analysis = "memory-fragmentation",
     .table = "over-time",
     .shown = Shown::kChart,
     .only_html = true},
});

constexpr Names<8> kBesideColumns = {"rank",
                                     "snapshot",
                                     "device",
                                     "peak_bytes",
                                     "peak_less_median_bytes",
                                     "end_bytes",
                                     "end_less_median_bytes",
                                     "outlier"};
constexpr Names<7> kDiffCategoryColumns = {"moment",     "category",  "change_bytes", "first_bytes",
                                           "last_bytes", "min_bytes", "max_bytes"};
constexpr Names<6> kDiffStackColumns = {"moment",       "where",       "category",
                                        "change_bytes", "first_bytes", "last_bytes"};
constexpr std::array kCompared = std::to_array<Part>({
    {.analysis = "memory-diff",
     .table = "snapshots",
     .shown = Shown::kBoth,
     .columns = kBesideColumns,
     .several_snapshots = true},
    {.analysis = "memory-diff",
     .table = "categories",
     .columns = kDiffCategoryColumns,
     .caption = "By what it holds, the last less the first:",
     .several_snapshots = true},
    {.analysis = "memory-diff",
     .table = "stacks",
     .columns = kDiffStackColumns,
     .rows = 10,
     .caption = "By the line of the program, the largest difference first:",
     .several_snapshots = true},
});

constexpr Names<8> kFigureColumns = {"snapshot",
                                     "device",
                                     "memory",
                                     "pool",
                                     "now_bytes",
                                     "peak_bytes",
                                     "total_allocated_bytes",
                                     "total_freed_bytes"};
constexpr Names<6> kHostColumns = {
    "snapshot", "now_bytes", "peak_bytes", "total_allocated_bytes", "allocations", "held_bytes"};
constexpr std::array kFigures = std::to_array<Part>({
    {.analysis = "memory-summary", .table = "bytes", .columns = kFigureColumns},
    {.analysis = "memory-summary",
     .table = "counts",
     .caption = "Pieces of memory",
     .only_html = true,
     .folded = true},
    {.analysis = "memory-summary",
     .table = "pinned-host",
     .columns = kHostColumns,
     .caption = "Page-locked memory of the host:"},
});

constexpr std::array kMemoryPageSections = std::to_array<Section>({
    {.title = "The snapshots beside each other",
     .about = "What differs, by what the memory holds and by the line that asked for it.",
     .parts = kCompared,
     .next = "memory-diff"},
    {.title = "Why it ran out",
     .about = "The request that failed, what was free and why that was of no use, and what was in "
              "use instead.",
     .parts = kFailed,
     .next = "memory-oom"},
    {.title = "Memory over time",
     .about = "What was allocated along the recorded history, by what it holds.",
     .parts = kTime,
     .next = "memory-timeline"},
    {.title = "Who holds the peak",
     .about = "What was allocated when the most was.",
     .parts = kPeak,
     .next = "memory-peak"},
    {.title = "What grows from step to step",
     .about = "Places of the program that leak in step after step.",
     .parts = kLeaks,
     .next = "memory-leaks"},
    {.title = "Held but not in use",
     .about = "The allocator keeps what the program frees. Most reserved is the moment it first "
              "held that much: a segment just taken is still free then. Unreturnable is what lies "
              "in segments of which a part is still in use.",
     .parts = kWaste,
     .next = "memory-fragmentation"},
    {.title = "In torch's figures",
     .about = "As torch.cuda.memory_summary has them, of the recorded history.",
     .parts = kFigures,
     .next = "memory-summary"},
});

}  // namespace

const PageKind kMemoryPage{.sections = kMemoryPageSections, .settings = {}, .of_memory = true};

}  // namespace stepscope::report
