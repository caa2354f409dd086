// Memory the allocator holds and the program does not use: why, and what would change it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/device_memory.h"
#include "analysis/memory/history/allocations.h"
#include "analysis/memory/simulated/forecast.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {
namespace {

// Segments that cannot be returned to the driver although most of them is free: a block that is in
// use holds the rest.

struct PinnedSegment {
  const memory::Segment* segment = nullptr;
  base::Bytes used = 0, free = 0, largest_free = 0;
  std::uint32_t used_blocks = 0;
  std::uint32_t smallest = 0;         // in Snapshot::blocks: the smallest block in use
  AllocationId life = kNoAllocation;  // of that block
};

// At the end of the history; the most free memory first. Expandable segments return free pages and
// are not among them.
std::vector<PinnedSegment> pinned_segments(const memory::Snapshot& snapshot,
                                           const memory::History& history,
                                           const Allocations& allocations) {
  std::vector<AllocationId> life_of(snapshot.blocks.size(), kNoAllocation);
  for (std::size_t id = 0; id < allocations.list.size(); ++id) {
    if (allocations.list[id].block < life_of.size()) {
      life_of[allocations.list[id].block] = static_cast<AllocationId>(id);
    }
  }
  std::vector<PinnedSegment> out;
  for (const memory::Segment& segment : snapshot.segments) {
    if (segment.device != history.device || segment.is_host != history.is_host ||
        segment.is_expandable) {
      continue;
    }
    PinnedSegment pinned;
    pinned.segment = &segment;
    for (std::uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
      const memory::Block& block = snapshot.blocks[b];
      if (block.state == memory::BlockState::kInactive) {
        pinned.free += block.size;
        pinned.largest_free = std::max(pinned.largest_free, block.size);
        continue;
      }
      if (pinned.used_blocks++ == 0 || block.size < snapshot.blocks[pinned.smallest].size) {
        pinned.smallest = b;
      }
      pinned.used += block.size;
    }
    if (pinned.used_blocks == 0 || pinned.free == 0) continue;
    pinned.life = life_of[pinned.smallest];
    out.push_back(pinned);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &PinnedSegment::free);
  return out;
}

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kMemoryFragmentationParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "10", "segments listed per device. 0: all"},
    {"points", ParameterType::kCount, "60",
     "stretches of the history shown over time; each keeps its extremes"},
    kDeviceMemoryParameter,
});

constexpr std::array kMomentColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"moment", Type::kText, Unit::kNone, "which moment of the history"},
    {"reserved_bytes", Type::kInt, Unit::kBytes, "held from the driver"},
    {"requested_bytes", Type::kInt, Unit::kBytes, "asked for by the program and not reusable yet"},
    {"rounding_bytes", Type::kInt, Unit::kBytes,
     "lost inside blocks, because sizes are rounded up"},
    {"unused_bytes", Type::kInt, Unit::kBytes, "lost between blocks: free, but held"},
    {"unused_share", Type::kReal, Unit::kShare, "of what is reserved"},
    {"largest_free_bytes", Type::kInt, Unit::kBytes, "the largest free block"},
    {"scattered_share", Type::kReal, Unit::kShare,
     "of the unused memory: not in the largest free block"},
    {"unreturnable_bytes", Type::kInt, Unit::kBytes,
     "unused, and in segments of which a part is in use"},
    {"segments", Type::kInt, Unit::kCount, "held; expandable ones are not counted"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
});
constexpr std::array kMemoryFragmentationTimeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"requested_bytes", Type::kInt, Unit::kBytes, "asked for by the program and not reusable yet"},
    {"rounding_bytes", Type::kInt, Unit::kBytes, "lost inside blocks"},
    {"unused_bytes", Type::kInt, Unit::kBytes, "lost between blocks"},
    {"reserved_bytes", Type::kInt, Unit::kBytes, "held from the driver"},
    {"largest_free_bytes", Type::kInt, Unit::kBytes, "the largest free block"},
});
constexpr std::array kPinnedColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"free_bytes", Type::kInt, Unit::kBytes, "free in this segment, but cannot be returned"},
    {"segment_bytes", Type::kInt, Unit::kBytes, "size of the segment"},
    {"used_bytes", Type::kInt, Unit::kBytes, "in use in it"},
    {"used_blocks", Type::kInt, Unit::kCount, "blocks in use in it"},
    {"pin_bytes", Type::kInt, Unit::kBytes, "the smallest block in use"},
    {"where", Type::kText, Unit::kNone, "line of the program that asked for this block"},
    {"category", Type::kText, Unit::kNone, "what it holds, as far as known"},
    {"pool", Type::kText, Unit::kNone, "small: for requests up to 1 MiB; large: for the others"},
    {"address", Type::kInt, Unit::kId, "of the segment"},
    {"stack", Type::kText, Unit::kNone, "calls from the outermost to the innermost"},
});
constexpr std::array kMemoryFragmentationSettingColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"setting", Type::kText, Unit::kNone, "for PYTORCH_CUDA_ALLOC_CONF; the rest as recorded"},
    {"peak_reserved_bytes", Type::kInt, Unit::kBytes, "the most held from the driver"},
    {"saved_bytes", Type::kInt, Unit::kBytes, "less than recorded; below 0: more"},
    {"driver_allocs", Type::kInt, Unit::kCount,
     "calls that take memory from the driver (cudaMalloc, or pages mapped)"},
    {"driver_frees", Type::kInt, Unit::kCount, "calls that return memory to the driver"},
    {"segments", Type::kInt, Unit::kCount,
     "the most held at once; expandable ones are not counted"},
    {"retries", Type::kInt, Unit::kCount, "times all unused memory was returned to make room"},
    {"failures", Type::kInt, Unit::kCount, "requests without room"},
});
constexpr std::array<std::string_view, 3> kParts = {"requested_bytes", "rounding_bytes",
                                                    "unused_bytes"};
constexpr std::array kMemoryFragmentationTables = std::to_array<base::TableShape>({
    {"moments", "one device at the moment it held most, wasted most, and at the end",
     kMomentColumns},
    {"settings", "one way to set the allocator: what the recorded requests would have needed",
     kMemoryFragmentationSettingColumns},
    {"pinned-segments", "a segment with free memory that cannot be returned, at the end",
     kPinnedColumns},
    {"over-time",
     "one moment of one device; every stretch of the history keeps its extremes",
     kMemoryFragmentationTimeColumns,
     {base::Chart::kStack, "at_ns", kParts, "snapshot"}},
});

struct MemoryFragmentationTables {
  base::Table moments{kMemoryFragmentationTables[0]}, settings{kMemoryFragmentationTables[1]},
      pinned{kMemoryFragmentationTables[2]}, time{kMemoryFragmentationTables[3]};
};

struct MemoryFragmentationDevice {
  const RunView& run;
  const SnapshotView& view;
  const SnapshotWork& snapshot;
  const HistoryWork& work;
  const Options& options;
};

double share_memory_fragmentation(Bytes part, Bytes of) {
  return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0;
}

void add_moments(const MemoryFragmentationDevice& of, MemoryFragmentationTables& tables) {
  const Replay& replay = of.work.replay;
  const auto add = [&](std::string_view name, const ReplayMoment& m) {
    tables.moments.add({of.view.rank, of.view.label, of.work.history->device, name, m.reserved,
                        m.requested, m.active - m.requested, m.unused(),
                        share_memory_fragmentation(m.unused(), m.reserved), m.largest_free,
                        share_memory_fragmentation(m.unused() - m.largest_free, m.unused()),
                        m.inactive_split, m.segments, m.event, of.work.at_ns(m.event)});
  };
  add("most reserved", replay.peak_reserved);
  add("most unused", replay.peak_unused);
  add("end", replay.end);
}

void add_memory_fragmentation_time(const MemoryFragmentationDevice& of,
                                   MemoryFragmentationTables& tables) {
  const auto stretches = static_cast<std::size_t>(of.options.count("points"));
  const std::vector<ReplayMoment> moments =
      stretches == kStretches ? of.work.replay.moments
                              : follow(*of.view.snapshot, *of.work.history, of.work.allocations,
                                       std::max<std::size_t>(1, stretches))
                                    .moments;
  for (const ReplayMoment& m : moments) {
    tables.time.add({of.view.rank, of.view.label, of.work.history->device, m.event,
                     of.work.at_ns(m.event), m.requested, m.active - m.requested, m.unused(),
                     m.reserved, m.largest_free});
  }
}

void add_pinned(const MemoryFragmentationDevice& of, MemoryFragmentationTables& tables) {
  const memory::Snapshot& snapshot = *of.view.snapshot;
  const auto pinned = pinned_segments(snapshot, *of.work.history, of.work.allocations);
  const auto top = static_cast<std::size_t>(of.options.count("top"));
  for (std::size_t i = 0; i < (top == 0 ? pinned.size() : std::min(top, pinned.size())); ++i) {
    const PinnedSegment& one = pinned[i];
    const memory::StackId stack = one.life != kNoAllocation
                                      ? of.work.allocations.list[one.life].stack
                                      : snapshot.blocks[one.smallest].stack;
    const Category category =
        one.life != kNoAllocation ? of.work.categories.category[one.life] : Category::kUnknown;
    tables.pinned.add({of.view.rank, of.view.label, of.work.history->device, one.free,
                       one.segment->total, one.used, one.used_blocks,
                       snapshot.blocks[one.smallest].size, of.snapshot.texts.representative(stack),
                       name_of(category), one.segment->is_large ? "large" : "small",
                       static_cast<std::int64_t>(one.segment->address),
                       of.snapshot.texts.folded(stack)});
  }
}

void add_memory_fragmentation_settings(const MemoryFragmentationDevice& of,
                                       MemoryFragmentationTables& tables, Answer& answer) {
  const Replay& replay = of.work.replay;
  std::optional<Bytes> device_bytes;
  if (const auto device = device_memory(of.run, of.view, of.work, of.options)) {
    device_bytes = device->bytes;
  }
  const std::shared_ptr<const Forecasts> made = forecasts(of.work, device_bytes, of.run.threads);
  const Forecasts& all = *made;
  const Bytes recorded = replay.peak_reserved.reserved;
  const auto add = [&](const std::string& setting, Bytes peak, base::Cell allocs, base::Cell frees,
                       base::Cell segments, base::Cell retries, base::Cell failures) {
    tables.settings.add({of.view.rank, of.view.label, of.work.history->device, setting, peak,
                         recorded - peak, allocs, frees, segments, retries, failures});
  };
  std::uint64_t allocs = 0, frees = 0;
  for (const memory::Action action : of.work.history->action.span()) {
    using memory::Action;
    allocs += action == Action::kSegmentAlloc || action == Action::kSegmentMap ? 1 : 0;
    frees += action == Action::kSegmentFree || action == Action::kSegmentUnmap ? 1 : 0;
  }
  // What a late history does not show was done before it; the others do all of it.
  const auto calls = [&](std::uint64_t count) {
    return replay.is_whole ? base::Cell(count) : base::Cell(Null{});
  };
  add("as recorded: " + settings_text(replay.rules), recorded, calls(allocs), calls(frees),
      replay.statistics(allocator::Stat::kSegment).peak, Null{}, replay.ooms.size());
  std::vector<const SettingForecast*> order;
  order.reserve(all.list.size());
  for (const SettingForecast& one : all.list) order.push_back(&one);
  std::ranges::stable_sort(order, {},
                           [](const SettingForecast* f) { return f->result.peak_reserved; });
  for (const SettingForecast* one : order) {
    const Simulated& result = one->result;
    add(one->setting, result.peak_reserved, result.driver_allocs, result.driver_frees,
        result.peak_segments, result.retries,
        result.failed + replay.ooms.size() - result.ooms_served);
  }
  add("without gaps or slack (the least possible)", all.least_possible, Null{}, Null{}, Null{},
      Null{}, Null{});
  if (!all.reproduction.is_same) {
    answer.remarks.push_back(said_of(
        of.view, of.work,
        fmt::format(
            "other settings are not forecast, because under the recorded ones torch's rules "
            "do not lead to the recorded calls to the driver: at event {}, {}.",
            all.reproduction.first_departure, all.reproduction.why)));
  } else if (!replay.is_whole) {
    answer.remarks.push_back(said_of(
        of.view, of.work,
        fmt::format("for other settings what is older than the history is laid out afresh, so that "
                    "their calls to the driver are no measure of the {} recorded ones.",
                    allocs + frees)));
  }
}

Answer run_memory_fragmentation(const RunView& view, const Options& options) {
  MemoryFragmentationTables tables;
  Answer answer;
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (device.history->length() == 0 && !device.allocations.has_blocks) continue;
      const MemoryFragmentationDevice of{view, snapshot, work, device, options};
      add_moments(of, tables);
      add_memory_fragmentation_settings(of, tables, answer);
      add_pinned(of, tables);
      add_memory_fragmentation_time(of, tables);
      for (const std::string& remark : remarks_on(device.replay)) {
        answer.remarks.push_back(said_of(snapshot, device, remark + "."));
      }
    }
  }
  for (base::Table* table : {&tables.moments, &tables.settings, &tables.pinned, &tables.time}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kMemoryFragmentation{
    .name = "memory-fragmentation",
    .title = "Memory fragmentation",
    .question = "How much memory is held but cannot be used, and what would change that?",
    .parameters = kMemoryFragmentationParameters,
    .tables = kMemoryFragmentationTables,
    .run = run_memory_fragmentation,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
