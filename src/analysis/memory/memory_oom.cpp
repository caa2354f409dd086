// Why a request failed, and what would have made room for it.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/device_memory.h"
#include "analysis/memory/remedies.h"
#include "analysis/memory/snapshot_remarks.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kMemoryOomParameters = std::to_array<Parameter>({
    {"failures", ParameterType::kCount, "3", "failures explained per device. 0: all"},
    {"top", ParameterType::kCount, "10", "places and segments listed per failure. 0: all"},
    {"batch-size", ParameterType::kCount, "0", "samples per batch, to tell the bytes of one"},
    kDeviceMemoryParameter,
});

constexpr std::array kFailureColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"where", Type::kText, Unit::kNone, "line of the program that asked for the memory"},
    {"asked_bytes", Type::kInt, Unit::kBytes, "asked for, rounded up"},
    {"short_by_bytes", Type::kInt, Unit::kBytes,
     "with this much less in use it would have fitted; at most, where the limit is the process' "
     "own"},
    {"why", Type::kText, Unit::kNone,
     "device full; or own limit: the driver had enough, the process may not take it"},
    {"driver_free_bytes", Type::kInt, Unit::kBytes, "free on the device, as the driver says"},
    {"limit_at_least_bytes", Type::kInt, Unit::kBytes,
     "own limit: no lower than this, which the process once held; null: the device was full"},
    {"limit_at_most_bytes", Type::kInt, Unit::kBytes,
     "own limit: no higher than this, as more was refused; null: the device was full"},
    {"reserved_bytes", Type::kInt, Unit::kBytes, "held by the allocator"},
    {"used_bytes", Type::kInt, Unit::kBytes, "of it: in use"},
    {"unusable_bytes", Type::kInt, Unit::kBytes, "of it: free, but of no use to this request"},
    {"in_pieces", Type::kBool, Unit::kNone,
     "enough was free for this sort of request, but not in one piece"},
    {"largest_free_bytes", Type::kInt, Unit::kBytes,
     "the largest free block this request could have had"},
    {"other_pools_bytes", Type::kInt, Unit::kBytes,
     "free in blocks of other streams, of the other size class or of CUDA graphs"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"stack", Type::kText, Unit::kNone, "calls from the outermost to the innermost"},
});
constexpr std::array kWayColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"way", Type::kText, Unit::kNone, "what to change"},
    {"enough", Type::kText, Unit::kNone, "whether it alone would have made room"},
    {"saves_bytes", Type::kInt, Unit::kBytes,
     "about; for a setting less held at the peak; null: it helps without holding less"},
    {"how", Type::kText, Unit::kNone, "how, and what it costs"},
});
constexpr std::array kAliveColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"where", Type::kText, Unit::kNone,
     "line of the program that asked for the memory; null: all the others together"},
    {"category", Type::kText, Unit::kNone, "what it holds, as far as known"},
    {"bytes", Type::kInt, Unit::kBytes, "in use when the request failed"},
    {"share", Type::kReal, Unit::kShare, "of all that was in use"},
    {"count", Type::kInt, Unit::kCount, "allocations"},
});
constexpr std::array kFreeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"free_bytes", Type::kInt, Unit::kBytes, "free in this segment"},
    {"largest_free_bytes", Type::kInt, Unit::kBytes, "its largest free block"},
    {"segment_bytes", Type::kInt, Unit::kBytes, "size of the segment"},
    {"why_not", Type::kText, Unit::kNone, "why the request could not have it"},
    {"address", Type::kInt, Unit::kId, "of the segment"},
});
constexpr std::array kHeadroomColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failures", Type::kInt, Unit::kCount, "requests that failed"},
    {"peak_reserved_bytes", Type::kInt, Unit::kBytes, "the most the allocator held"},
    {"peak_used_bytes", Type::kInt, Unit::kBytes, "the most that was in use"},
    {"device_memory_bytes", Type::kInt, Unit::kBytes, "of the whole device; null: not known"},
    {"own_limit_bytes", Type::kInt, Unit::kBytes,
     "what the process may take at most, though the driver has more; null: no such limit was met"},
    {"left_bytes", Type::kInt, Unit::kBytes,
     "what the allocator never held, of its own limit where it met one"},
    {"told_by", Type::kText, Unit::kNone, "who says how much there is"},
});
constexpr std::array kMemoryOomTables = std::to_array<base::TableShape>({
    {"failures", "one request that failed", kFailureColumns},
    {"remedies", "a change that makes room, the cheapest first, those that are not enough last",
     kWayColumns},
    {"alive", "one place in the program and what it had in use when the request failed",
     kAliveColumns},
    {"free-segments", "a segment with free memory the request could not use", kFreeColumns},
    {"headroom", "one device: how close it came", kHeadroomColumns},
});

struct MemoryOomTables {
  base::Table failures{kMemoryOomTables[0]}, ways{kMemoryOomTables[1]}, alive{kMemoryOomTables[2]},
      free{kMemoryOomTables[3]}, headroom{kMemoryOomTables[4]};
};

struct MemoryOomDevice {
  const SnapshotView& view;
  const SnapshotWork& snapshot;
  const HistoryWork& work;
  const Options& options;
};

void add_alive(const MemoryOomDevice& of, std::size_t number, const Failure& failure,
               MemoryOomTables& tables) {
  Bytes all = 0;
  for (const Bytes bytes : failure.by_category) all += bytes;
  const auto top = static_cast<std::size_t>(of.options.count("top"));
  // One place more costs no more lines than "the others" would.
  const std::size_t shown =
      top == 0 || failure.alive.size() <= top + 1 ? failure.alive.size() : top;
  const auto add = [&](base::Cell where, base::Cell category, Bytes bytes, std::uint64_t count) {
    tables.alive.add({of.view.rank, of.view.label, of.work.history->device, number, where, category,
                      bytes, static_cast<double>(bytes) / static_cast<double>(all), count});
  };
  std::vector<memory::StackId> stacks;
  stacks.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    stacks.push_back(of.work.allocations.list[failure.alive[i].first].stack);
  }
  const std::vector<std::string> texts = of.snapshot.texts.told_apart(stacks);
  Bytes rest = all;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < failure.alive.size(); ++i) {
    const AliveGroup& group = failure.alive[i];
    if (i >= shown) {
      count += group.count;
      continue;
    }
    rest -= group.bytes;
    add(texts[i].empty() ? "(no stack)" : texts[i], name_of(group.category), group.bytes,
        group.count);
  }
  if (shown < failure.alive.size()) add(Null{}, Null{}, rest, count);
}

std::string why_not(const SegmentFree& segment, const Failure& failure,
                    const memory::History& history, const allocator::Rules& rules) {
  if (segment.pool != 0) return "of a CUDA graph's pool";
  if (segment.stream != history.stream[failure.event]) return "of another stream";
  if (segment.is_small != rules.is_small(failure.asked)) {
    return segment.is_small ? "for small requests only" : "for large requests only";
  }
  if (segment.largest_free >= failure.asked) return "too large to be cut";
  return segment.free >= failure.asked ? "in pieces" : "too small";
}

void add_failure(const MemoryOomDevice& of, std::size_t number, const Failure& failure,
                 MemoryOomTables& tables) {
  const HistoryWork& work = of.work;
  const ReplayOom& state = *failure.state;
  const memory::StackId stack = work.history->stack[failure.event];
  tables.failures.add({of.view.rank, of.view.label, work.history->device, number,
                       of.snapshot.texts.representative(stack), failure.asked, failure.short_by,
                       failure.is_own_limit ? "own limit" : "device full", failure.driver_free,
                       failure.limit ? base::Cell(failure.limit->at_least) : base::Cell(Null{}),
                       failure.limit ? base::Cell(failure.limit->at_most) : base::Cell(Null{}),
                       state.at.reserved, state.at.active, state.at.unused(), failure.is_in_pieces,
                       state.largest_usable, state.elsewhere, work.at_ns(failure.event),
                       of.snapshot.texts.folded(stack)});
  add_alive(of, number, failure, tables);
  const auto top = static_cast<std::size_t>(of.options.count("top"));
  const std::size_t shown = top == 0 ? state.segments.size() : std::min(top, state.segments.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SegmentFree& segment = state.segments[i];
    tables.free.add({of.view.rank, of.view.label, work.history->device, number, segment.free,
                     segment.largest_free, segment.size,
                     why_not(segment, failure, *work.history, work.replay.rules),
                     static_cast<std::int64_t>(segment.address)});
  }
}

void add_memory_oom_device(const RunView& run, const MemoryOomDevice& of, MemoryOomTables& tables,
                           Answer& answer) {
  const HistoryWork& work = of.work;
  const std::optional<DeviceMemory> device = device_memory(run, of.view, work, of.options);
  const Bytes peak = work.replay.peak_reserved.reserved;
  const std::optional<Bytes> own = own_limit(work);
  const bool is_whole = device && device->from != kFromOwnLimit;
  std::optional<Bytes> there = own;
  if (!there && device) there = device->bytes;
  tables.headroom.add({of.view.rank, of.view.label, work.history->device, work.replay.ooms.size(),
                       peak, work.replay.statistics(allocator::Stat::kActiveBytes).peak,
                       is_whole ? base::Cell(device->bytes) : base::Cell(Null{}),
                       own ? base::Cell(*own) : base::Cell(Null{}),
                       there ? base::Cell(*there - peak) : base::Cell(Null{}),
                       device ? base::Cell(device->from) : base::Cell(Null{})});
  if (work.replay.ooms.empty()) {
    answer.remarks.push_back(said_of(of.view, work, "no request failed."));
    return;
  }
  const Forecasts& all = *forecasts(work, std::nullopt, run.threads);
  const auto most = static_cast<std::size_t>(of.options.count("failures"));
  std::size_t number = 0;
  for (std::size_t i = 0; i < work.history->length(); ++i) {
    if (work.history->action[i] != memory::Action::kOom) continue;
    if (most != 0 && number == most) break;
    const Failure failure = examine(work, number, static_cast<std::uint32_t>(i));
    ++number;
    add_failure(of, number, failure, tables);
    for (const Remedy& way :
         remedies(work, of.snapshot.texts, failure, all, of.options.count("batch-size"))) {
      tables.ways.add({of.view.rank, of.view.label, work.history->device, number, way.what,
                       name_of(way.enough), way.saves, way.how});
    }
  }
  if (number < work.replay.ooms.size()) {
    answer.remarks.push_back(said_of(of.view, work,
                                     fmt::format("the first {} of {} failures are explained.",
                                                 number, work.replay.ooms.size())));
  }
}

Answer run_memory_oom(const RunView& view, const Options& options) {
  MemoryOomTables tables;
  Answer answer;
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (device.history->length() == 0) continue;
      add_memory_oom_device(view, {snapshot, work, device, options}, tables, answer);
    }
  }
  for (base::Table* table :
       {&tables.failures, &tables.ways, &tables.alive, &tables.free, &tables.headroom}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kMemoryOom{
    .name = "memory-oom",
    .title = "Out of memory",
    .question = "Why did it run out of memory, and what would make room?",
    .parameters = kMemoryOomParameters,
    .tables = kMemoryOomTables,
    .run = run_memory_oom,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
