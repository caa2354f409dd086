// Every allocation of a history with its life, its place in the program and what it holds.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/history/allocated.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, kCategories + 1> kCategoryNames = {
    "all",    "parameters",  "optimizer state", "gradients",     "activations",
    "inputs", "temporaries", "autograd detail", "communication", "unknown"};
constexpr std::array kMemoryAllocationsParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "1000", "allocations per device, the largest. 0: all"},
    {"min-bytes", ParameterType::kCount, "0", "list allocations of at least this many bytes"},
    {"category", ParameterType::kChoice, "all", "list allocations that hold this only",
     kCategoryNames},
    {"alive-at", ParameterType::kText, "",
     "list what was allocated at this moment only: peak, end, or the number of an event"},
});

constexpr std::array kMemoryAllocationsColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"bytes", Type::kInt, Unit::kBytes, "size of its block"},
    {"where", Type::kText, Unit::kNone, "the program's line that asked for it"},
    {"category", Type::kText, Unit::kNone, "what it holds, from stacks, order and lifetimes"},
    {"step", Type::kInt, Unit::kId, "the step it was made in"},
    {"made_ns", Type::kInt, Unit::kInstant, "when, since the first event; null: before it"},
    {"life_ns", Type::kInt, Unit::kNanos,
     "until the program let go; null: still had it, or made before the history"},
    {"alive", Type::kBool, Unit::kNone, "still allocated at the end"},
    {"requested_bytes", Type::kInt, Unit::kBytes, "what was asked for, before rounding"},
    {"made_event", Type::kInt, Unit::kId, "place of the allocation in the history"},
    {"let_go_event", Type::kInt, Unit::kId, "place at which the program gave it back"},
    {"freed_event", Type::kInt, Unit::kId, "place from which on it could be used again"},
    {"stream", Type::kInt, Unit::kId, "that it was made for"},
    {"address", Type::kInt, Unit::kId, "where it lies"},
    {"why", Type::kText, Unit::kNone, "what tells its category"},
    {"stack", Type::kText, Unit::kNone, "all calls, the outermost first"},
    {"forward_stack", Type::kText, Unit::kNone,
     "of a backward pass: all calls that made the forward pass; from torch 2.10 on"},
});
constexpr std::array kMemoryAllocationsTables = std::to_array<base::TableShape>({
    {"allocations", "one allocation of one device, the largest first", kMemoryAllocationsColumns},
});

base::Cell event_cell(std::uint32_t event) {
  return event == kNoEvent ? base::Cell(Null{}) : base::Cell(event);
}

struct MemoryAllocationsMoment {
  bool any = true;  // no moment was named
  std::uint32_t event = kNoEvent;
};

// False: the text names no moment of this history.
bool find_moment(std::string_view text, const HistoryWork& work, MemoryAllocationsMoment& out) {
  if (text.empty()) return true;
  out.any = false;
  const std::size_t events = work.history->length();
  if (text == "peak") {
    out.event = allocated(work).peak;
    return true;
  }
  if (text == "end") {
    out.event = events == 0 ? kNoEvent : static_cast<std::uint32_t>(events - 1);
    return true;
  }
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out.event);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() && out.event < events;
}

// Stacks are few beside allocations: their texts are made once.
struct Texts {
  std::string representative, folded;
  bool made = false;
};

void add_allocations(base::Table& table, const SnapshotView& view, const SnapshotWork& snapshot,
                     const HistoryWork& work, const Options& options,
                     const MemoryAllocationsMoment& moment) {
  const Bytes least = options.count("min-bytes");
  const std::string_view category = options.text("category");
  std::vector<AllocationId> order;
  for (AllocationId id = 0; id < work.allocations.list.size(); ++id) {
    if (work.replay.block_size[id] < least) continue;
    if (category != "all" && name_of(work.categories.category[id]) != category) continue;
    if (!moment.any && !is_held(work.allocations.list[id], moment.event)) continue;
    order.push_back(id);
  }
  const auto size = [&](AllocationId id) { return work.replay.block_size[id]; };
  std::ranges::stable_sort(order, std::ranges::greater{}, size);
  const auto top = static_cast<std::size_t>(options.count("top"));
  if (top > 0 && order.size() > top) order.resize(top);

  std::vector<Texts> texts(snapshot.texts.groups());
  const bool has_times = time_of(work, kNoEvent).has_value();
  table.reserve(table.rows() + order.size());
  for (const AllocationId id : order) {
    const Allocation& life = work.allocations.list[id];
    Texts& text = texts[work.group[id]];
    if (!text.made) {
      const memory::StackId stack = snapshot.texts.first_of(work.group[id]);
      text = {snapshot.texts.representative(stack), snapshot.texts.folded(stack), true};
      if (text.representative.empty()) text.representative = "(no stack)";
    }
    const auto filled = [](const std::string& s) {
      return s.empty() ? base::Cell(Null{}) : base::Cell(s);
    };
    base::Cell made = Null{}, length = Null{}, step = Null{};
    std::string forward;
    if (!life.is_older()) {
      forward = snapshot.texts.folded(work.history->forward[life.alloc]);
      step = step_number(work, life.alloc);
      made = time_of(work, life.alloc);
      if (has_times && life.used_until() != kNoEvent) {
        length = *time_of(work, life.used_until()) - *time_of(work, life.alloc);
      }
    }
    table.add({view.rank, view.label, work.history->device, size(id), text.representative,
               name_of(work.categories.category[id]), step, made, length,
               life.used_until() == kNoEvent, life.requested, event_cell(life.alloc),
               event_cell(life.let_go), event_cell(life.freed), life.stream,
               static_cast<std::int64_t>(life.address), text_of(work.categories.reason[id]),
               filled(text.folded), filled(forward)});
  }
}

Answer run_memory_allocations(const RunView& view, const Options& options) {
  Answer answer;
  answer.tables.emplace_back(kMemoryAllocationsTables[0]);
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (is_empty(device)) continue;
      MemoryAllocationsMoment moment;
      if (find_moment(options.text("alive-at"), device, moment)) {
        add_allocations(answer.tables[0], snapshot, work, device, options, moment);
      } else {
        answer.remarks.push_back(said_of(
            snapshot, device,
            fmt::format("'{}' is no moment of its history: give peak, end, or the number of one of "
                        "its {} events.",
                        options.text("alive-at"), device.history->length())));
      }
      add_remarks(answer, snapshot, device);
    }
  }
  say_if_nothing(answer);
  return answer;
}

}  // namespace

const Analysis kMemoryAllocations{
    .name = "memory-allocations",
    .title = "Allocations",
    .question = "Which allocations were made, how large were they and how long did they live?",
    .parameters = kMemoryAllocationsParameters,
    .tables = kMemoryAllocationsTables,
    .run = run_memory_allocations,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
