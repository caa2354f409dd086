// The snapshot as it was recorded: what every other memory analysis is worked out from, in rows.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::ColumnShape;
using base::Null;
using base::Type;
using base::Unit;
using memory::Snapshot;

constexpr ColumnShape kDeviceColumn{"device", Type::kInt, Unit::kId,
                                    "number of the device; none for pinned host memory"};
constexpr ColumnShape kStackColumn{"stack", Type::kInt, Unit::kId,
                                   "its rows in the table stacks; none where no stack was kept"};

constexpr std::array kMemoryEventsEventColumns = std::to_array<ColumnShape>({
    key::kSnapshot,
    kDeviceColumn,
    {"event", Type::kInt, Unit::kId, "its place in the history, from 0"},
    {"unix_ns", Type::kInt, Unit::kId, "when, in nanoseconds since 1970"},
    {"action", Type::kText, Unit::kNone, "what the allocator did, in torch's words"},
    {"address", Type::kText, Unit::kNone, "where; for oom, what the driver had free"},
    {"size_bytes", Type::kInt, Unit::kBytes, "alloc: as asked for, before rounding"},
    {"stream", Type::kInt, Unit::kId, "the stream, as torch numbers it"},
    {"pool", Type::kText, Unit::kNone, "the private pool; none for the common or an unknown one"},
    kStackColumn,
    {"forward", Type::kInt, Unit::kId, "the stack of the forward call, for backward work"},
    {"note", Type::kText, Unit::kNone, "what the program attached to it"},
    {"compile_context", Type::kText, Unit::kNone, "the compiled graph it belongs to"},
});

constexpr std::array kMemoryEventsStackColumns = std::to_array<ColumnShape>({
    key::kSnapshot,
    {"stack", Type::kInt, Unit::kId, "number of the stack"},
    {"depth", Type::kInt, Unit::kId, "0 is the innermost call"},
    {"function", Type::kText, Unit::kNone, "its name"},
    {"file", Type::kText, Unit::kNone, "the source file; ?? where it is not known"},
    {"line", Type::kInt, Unit::kId, "the line in it"},
});

constexpr std::array kSegmentColumns = std::to_array<ColumnShape>({
    key::kSnapshot,
    kDeviceColumn,
    {"segment", Type::kInt, Unit::kId, "its place in the file, from 0"},
    {"address", Type::kText, Unit::kNone, "where it begins"},
    {"total_bytes", Type::kInt, Unit::kBytes, "taken from the driver"},
    {"allocated_bytes", Type::kInt, Unit::kBytes, "in use by the program"},
    {"active_bytes", Type::kInt, Unit::kBytes, "in use, or freed while a stream still uses it"},
    {"requested_bytes", Type::kInt, Unit::kBytes, "asked for, before rounding"},
    {"stream", Type::kInt, Unit::kId, "the stream it belongs to"},
    {"kind", Type::kText, Unit::kNone, "small: of allocations up to 1 MiB; large"},
    {"expandable", Type::kBool, Unit::kNone, "whether it can grow"},
    {"pool", Type::kText, Unit::kNone, "the private pool; none for the common one"},
    kStackColumn,
});

constexpr std::array kBlockColumns = std::to_array<ColumnShape>({
    key::kSnapshot,
    {"segment", Type::kInt, Unit::kId, "the segment it is cut from"},
    {"address", Type::kText, Unit::kNone, "where it begins"},
    {"size_bytes", Type::kInt, Unit::kBytes, "how large it is"},
    {"requested_bytes", Type::kInt, Unit::kBytes, "asked for, before rounding; 0 if it is free"},
    {"state", Type::kText, Unit::kNone, "active, pending free or inactive"},
    kStackColumn,
});

constexpr std::array kMemoryEventsAnnotationColumns = std::to_array<ColumnShape>({
    key::kSnapshot,
    kDeviceColumn,
    {"unix_ns", Type::kInt, Unit::kId, "when, in nanoseconds since 1970"},
    {"name", Type::kText, Unit::kNone, "the span, as record_function named it"},
    {"stage", Type::kText, Unit::kNone, "START or END"},
});

constexpr std::array kMemoryEventsTables = std::to_array<base::TableShape>({
    {"events", "one thing the allocator did, oldest first", kMemoryEventsEventColumns},
    {"segments", "a piece of memory taken from the driver, at the end", kSegmentColumns},
    {"blocks", "a piece of a segment, by address", kBlockColumns},
    {"annotations", "the begin or end of a named span", kMemoryEventsAnnotationColumns},
    {"stacks", "one call of a stack", kMemoryEventsStackColumns},
});

constexpr std::array kMemoryEventsParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "1000", "how many events of each history, the newest; 0: all"},
});

std::string hex(std::uint64_t address) { return fmt::format("0x{:x}", address); }

Cell stack_cell(memory::StackId stack) {
  return stack == memory::kNoStack ? Cell(Null{}) : Cell(stack);
}

Cell time_cell(base::Nanos time) { return time == memory::kNoTime ? Cell(Null{}) : Cell(time); }

std::string pool_name(const Snapshot& snapshot, std::uint16_t pool) {
  if (pool == 0 || pool >= snapshot.pools.size()) return {};
  return fmt::format("{}, {}", snapshot.pools[pool].first, snapshot.pools[pool].second);
}

Cell text_cell(std::string_view text) { return text.empty() ? Cell(Null{}) : Cell(text); }

// True when some events were left out.
bool add_memory_events(base::Table& table, const SnapshotView& view, std::size_t top) {
  const Snapshot& snapshot = *view.snapshot;
  bool cut = false;
  for (const memory::History& history : snapshot.histories) {
    const std::size_t first = top == 0 || history.length() <= top ? 0 : history.length() - top;
    cut = cut || first > 0;
    for (std::size_t i = first; i < history.length(); ++i) {
      const memory::Action action = history.action[i];
      const bool oom = action == memory::Action::kOom;
      const std::string place =
          oom ? fmt::format("{} free", history.address[i]) : hex(history.address[i]);
      const std::string pool = pool_name(snapshot, history.pool[i]);
      table.add({view.label, history.is_host ? Cell(Null{}) : Cell(history.device), i,
                 time_cell(history.time[i]), memory::name_of(action), place, history.size[i],
                 history.stream[i], text_cell(pool), stack_cell(history.stack[i]),
                 stack_cell(history.forward[i]), text_cell(snapshot.text(history.note[i])),
                 text_cell(snapshot.text(history.compile_context[i]))});
    }
  }
  return cut;
}

std::string_view state_name(memory::BlockState state) {
  switch (state) {
    case memory::BlockState::kActive:
      return "active";
    case memory::BlockState::kPendingFree:
      return "pending free";
    case memory::BlockState::kInactive:
      return "inactive";
    case memory::BlockState::kUnknown:
      break;
  }
  return "unknown";
}

void add_state(base::Table& segments, base::Table& blocks, const SnapshotView& view) {
  const Snapshot& snapshot = *view.snapshot;
  for (std::size_t s = 0; s < snapshot.segments.size(); ++s) {
    const memory::Segment& segment = snapshot.segments[s];
    const std::string pool = pool_name(snapshot, segment.pool);
    segments.add({view.label, segment.is_host ? Cell(Null{}) : Cell(segment.device), s,
                  hex(segment.address), segment.total, segment.allocated, segment.active,
                  segment.requested, segment.stream, segment.is_large ? "large" : "small",
                  segment.is_expandable, text_cell(pool), stack_cell(segment.stack)});
    for (const memory::Block& block : snapshot.blocks_of(segment)) {
      blocks.add({view.label, s, hex(block.address), block.size, block.requested,
                  state_name(block.state), stack_cell(block.stack)});
    }
  }
}

void add_memory_events_stacks(base::Table& table, const SnapshotView& view) {
  const Snapshot& snapshot = *view.snapshot;
  for (memory::StackId stack = 0; stack < snapshot.stacks.size(); ++stack) {
    std::int64_t depth = 0;
    for (const memory::FrameId id : snapshot.stacks[stack]) {
      const memory::Frame& frame = snapshot.stacks.frame(id);
      table.add({view.label, stack, depth++, snapshot.text(frame.name),
                 text_cell(snapshot.text(frame.file)), frame.line});
    }
  }
}

Answer run_memory_events(const RunView& view, const Options& options) {
  Answer answer;
  for (const base::TableShape& shape : kMemoryEventsTables) answer.tables.emplace_back(shape);
  const auto top = static_cast<std::size_t>(options.count("top"));
  bool cut = false;
  for (const SnapshotView& snapshot : view.snapshots) {
    cut = add_memory_events(answer.tables[0], snapshot, top) || cut;
    add_state(answer.tables[1], answer.tables[2], snapshot);
    for (const memory::Annotation& annotation : snapshot.snapshot->annotations) {
      answer.tables[3].add({snapshot.label, annotation.device, time_cell(annotation.time),
                            snapshot.snapshot->text(annotation.name),
                            annotation.is_start ? "START" : "END"});
    }
    add_memory_events_stacks(answer.tables[4], snapshot);
  }
  if (cut) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("Only the newest {} events are shown; --top 0 shows all.", top)));
  }
  return answer;
}

}  // namespace

const Analysis kMemoryEvents{
    .name = "memory-events",
    .title = "Memory events",
    .question = "What exactly did the allocator record?",
    .parameters = kMemoryEventsParameters,
    .tables = kMemoryEventsTables,
    .run = run_memory_events,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
