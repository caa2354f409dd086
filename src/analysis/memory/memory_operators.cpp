// Which operators take memory and give it back, from the allocations a trace records. Needs no
// memory snapshot. Definitions: docs/metrics/memory-operators.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/key_columns.h"
#include "analysis/operators/op_calls.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

// Allocations and frees as a trace tells them ("[memory]" instants), for host and devices: each
// allocation with its free, found by the address, and with the operator that asked for it.

struct MemoryDevice {
  std::int16_t type = 0;  // c10::DeviceType
  std::int16_t id = -1;
  auto operator<=>(const MemoryDevice&) const = default;
};
std::string name_of(MemoryDevice device);  // "cpu", "cuda:0"

// One instant. A trace has hundreds of thousands of them: what few ask about is in the trace.
struct MemoryEvent {
  base::Nanos time = 0;
  base::Bytes bytes = 0;               // negative: a free
  std::uint32_t entry = 0;             // of the trace's memory events
  std::uint32_t ordinal = 0;           // place in the file
  std::uint32_t partner = 0xffffffff;  // its free or its allocation, in the same list
  bool counts = true;                  // of a step that was asked for
};

struct TraceMemory {
  const trace::MemoryTable* table = nullptr;
  const OpMarks* marks = nullptr;
  MemoryDevice device;
  std::vector<MemoryEvent> events;  // by time, then by place in the file

  // The operator that was running; into OpCalls::calls.
  std::uint32_t call(const MemoryEvent& event) const { return marks->call[event.entry]; }
  // After it; -1 where not given.
  base::Bytes allocated(const MemoryEvent& event) const {
    return table->total_allocated[event.entry];
  }
  base::Bytes reserved(const MemoryEvent& event) const {
    return table->total_reserved[event.entry];
  }
};

using trace::Row;

constexpr std::uint32_t kNoEntry = 0xffffffff;

// A free belongs to the last allocation at its address that has not been freed. An allocator gives
// the same few addresses again and again: a table of them stays small.
void pair_up(const trace::MemoryTable& table, std::vector<MemoryEvent>& events) {
  base::NumberMap open_at;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    std::uint32_t& open = open_at.try_emplace(table.address[events[i].entry], kNoEntry).number;
    if (events[i].bytes > 0) {
      open = i;
    } else if (open != kNoEntry) {
      events[i].partner = open;
      events[open].partner = i;
      open = kNoEntry;
    }
  }
}

// Events come by thread and within it by time.
void order_by_time(std::vector<MemoryEvent>& events) {
  sort_runs(events, [](const MemoryEvent& a, const MemoryEvent& b) {
    return std::tie(a.time, a.ordinal) < std::tie(b.time, b.ordinal);
  });
}

std::string name_of(MemoryDevice device) {
  static constexpr std::array<std::string_view, 21> kTypes = {
      "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
      "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
      "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};
  const auto type = static_cast<std::size_t>(device.type);
  std::string name = device.type >= 0 && type < kTypes.size()
                         ? std::string(kTypes[type])
                         : fmt::format("device type {}", device.type);
  if (device.id >= 0) name += fmt::format(":{}", device.id);
  return name;
}

// By device.
std::vector<TraceMemory> trace_memory(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  const trace::MemoryTable& table = trace.memory_events();
  if (table.rows.size() == 0) return {};
  const auto device_of = [&](std::uint32_t entry) {
    return MemoryDevice{table.device_type[entry], table.device_id[entry]};
  };
  std::map<MemoryDevice, TraceMemory> devices;
  MemoryDevice last{};
  TraceMemory* of_last = nullptr;
  table.rows.for_each([&](Row row, std::uint32_t entry) {
    if ((trace.flags()[row] & trace::kFarTime) != 0) return;
    const MemoryDevice device = device_of(entry);
    if (of_last == nullptr || last != device) {
      of_last = &devices[device];
      last = device;
    }
    const base::Nanos time = trace.start()[row];
    of_last->events.push_back({.time = time,
                               .bytes = table.bytes[entry],
                               .entry = entry,
                               .ordinal = trace.ordinal()[row],
                               .counts = window.counts_at(time)});
  });
  std::vector<TraceMemory> out;
  for (auto& [device, memory] : devices) {
    memory.table = &table;
    memory.marks = &op_marks(window);
    memory.device = device;
    order_by_time(memory.events);
    pair_up(table, memory.events);
    out.push_back(std::move(memory));
  }
  return out;
}

using base::Bytes;
using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kMemoryOperatorsParameters = std::to_array<Parameter>({
    {"min-bytes", ParameterType::kCount, "0", "list allocations of at least this many bytes"},
    {"points", ParameterType::kCount, "500", "points of the curve; each keeps its highest. 0: all"},
});

constexpr std::array kMemoryOperatorsOperatorColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"device", Type::kText, Unit::kNone, "whose memory: cpu, cuda:0, …"},
    {"operator", Type::kText, Unit::kNone, "its name; (no operator): none was running"},
    {"calls", Type::kInt, Unit::kCount, "how often it was called; null: not a call"},
    {"self_allocated_bytes", Type::kInt, Unit::kBytes, "allocated by itself"},
    {"allocated_bytes", Type::kInt, Unit::kBytes, "allocated by it and the operators it called"},
    {"self_increase_bytes", Type::kInt, Unit::kBytes, "allocated less freed by itself"},
    {"increase_bytes", Type::kInt, Unit::kBytes,
     "allocated less freed by it and the operators it called"},
    {"self_allocations", Type::kInt, Unit::kCount, "allocations by itself"},
    {"allocations", Type::kInt, Unit::kCount, "allocations by it and the operators it called"},
});
constexpr std::array kMemoryOperatorsEventColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"device", Type::kText, Unit::kNone, "whose memory: cpu, cuda:0, …"},
    {"operator", Type::kText, Unit::kNone, "that asked for it; null: allocated before the trace"},
    {"bytes", Type::kInt, Unit::kBytes, "size"},
    {"allocated_ns", Type::kInt, Unit::kInstant, "when; null: before the trace"},
    {"freed_ns", Type::kInt, Unit::kInstant, "when; null: not within the trace"},
    {"duration_ns", Type::kInt, Unit::kNanos, "between the two"},
});
constexpr std::array kCurveColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"device", Type::kText, Unit::kNone, "whose memory: cpu, cuda:0, …"},
    {"time_ns", Type::kInt, Unit::kInstant, "when the most was allocated in this stretch of time"},
    {"allocated_bytes", Type::kInt, Unit::kBytes, "in use, the most in this stretch of time"},
    {"reserved_bytes", Type::kInt, Unit::kBytes,
     "held by the allocator, the most in this stretch of time; null: not given"},
});
constexpr std::array kMemoryOperatorsPeakColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"device", Type::kText, Unit::kNone, "whose memory: cpu, cuda:0, …"},
    {"peak_allocated_bytes", Type::kInt, Unit::kBytes, "most in use"},
    {"peak_ns", Type::kInt, Unit::kInstant, "when that was first so"},
    {"peak_operator", Type::kText, Unit::kNone, "that was running then"},
    {"peak_reserved_bytes", Type::kInt, Unit::kBytes, "most held; null: not given"},
    {"last_allocated_bytes", Type::kInt, Unit::kBytes, "in use at the end"},
    {"allocations", Type::kInt, Unit::kCount, "within the trace"},
    {"frees", Type::kInt, Unit::kCount, "within the trace"},
    {"never_freed", Type::kInt, Unit::kCount, "allocations whose free is not in the trace"},
    {"older", Type::kInt, Unit::kCount, "frees whose allocation is not in the trace"},
});
constexpr std::array<std::string_view, 1> kMemoryOperatorsBars = {"self_allocated_bytes"};
constexpr std::array<std::string_view, 2> kMemoryOperatorsLines = {"allocated_bytes",
                                                                   "reserved_bytes"};
constexpr std::array kMemoryOperatorsTables = std::to_array<base::TableShape>({
    {"memory_devices", "the memory of one device on one rank", kMemoryOperatorsPeakColumns},
    {"memory_operators",
     "one operator on one device and rank, the most allocated first",
     kMemoryOperatorsOperatorColumns,
     {base::Chart::kBars, "operator", kMemoryOperatorsBars, "rank"}},
    {"memory_events", "one allocation on one device and rank, the largest first",
     kMemoryOperatorsEventColumns},
    {"memory_curve",
     "memory in use over time",
     kCurveColumns,
     {base::Chart::kLine, "time_ns", kMemoryOperatorsLines, "device"}},
});

struct MemoryOperatorsSum {
  Bytes increase = 0, allocated = 0;
  std::int64_t allocations = 0;
  bool is_nothing() const { return increase == 0 && allocated == 0 && allocations == 0; }
  void add(const MemoryOperatorsSum& other) {
    increase += other.increase;
    allocated += other.allocated;
    allocations += other.allocations;
  }
};
struct MemoryOperatorsLine {
  MemoryOperatorsSum self, total;
  std::int64_t calls = 0;
};
using Lines = std::map<std::string_view, MemoryOperatorsLine>;

struct MemoryOperatorsPartial {
  std::vector<TraceMemory> devices;
  std::vector<Lines> lines;  // by device
};

constexpr std::string_view kOutside = "(no operator)";

// By name. What an operator asks for is also that of all around it, of each name once.
class NameSums {
 public:
  NameSums(const WindowView& window, const OpCalls& ops)
      : trace_(*window.trace),
        ops_(ops),
        sums_(trace_.strings().size()),
        counted_(sums_.size(), OpCall::kNone) {
    calls_.resize(sums_.size());
    for (std::uint32_t i = 0; i < ops.calls.size(); ++i) {
      calls_[name_of(i)] += ops.counts(window, i) ? 1 : 0;
    }
  }

  Lines lines_of(const TraceMemory& memory) {
    std::ranges::fill(sums_, MemoryOperatorsLine{});
    std::ranges::fill(counted_, OpCall::kNone);
    Lines lines;
    for (std::uint32_t i = 0; i < memory.events.size(); ++i) {
      const MemoryEvent& event = memory.events[i];
      if (!event.counts) continue;
      const MemoryOperatorsSum one = {event.bytes, std::max<Bytes>(event.bytes, 0),
                                      event.bytes > 0 ? 1 : 0};
      if (const std::uint32_t call = memory.call(event); call != OpCall::kNone) {
        sums_[name_of(call)].self.add(one);
        add_around(call, i, one);
      } else {
        lines[kOutside].self.add(one);
        lines[kOutside].total.add(one);
      }
    }
    for (std::size_t name = 0; name < sums_.size(); ++name) {
      MemoryOperatorsLine& line = sums_[name];
      if (line.total.allocations == 0 && line.total.increase == 0) continue;
      line.calls = calls_[name];
      lines[trace_.text(static_cast<base::StringId>(name))] = line;
    }
    return lines;
  }

 private:
  base::StringId name_of(std::uint32_t call) const { return trace_.name()[ops_.calls[call].row]; }

  void add_around(std::uint32_t call, std::uint32_t event, const MemoryOperatorsSum& one) {
    for (; call != OpCall::kNone; call = ops_.calls[call].parent) {
      const base::StringId name = name_of(call);
      if (std::exchange(counted_[name], event) != event) sums_[name].total.add(one);
    }
  }

  const trace::Trace& trace_;
  const OpCalls& ops_;
  std::vector<MemoryOperatorsLine> sums_;
  std::vector<std::uint32_t> counted_;  // the last event in whose totals the name is
  std::vector<std::int64_t> calls_;
};

MemoryOperatorsPartial compute_memory_operators(const WindowView& window) {
  MemoryOperatorsPartial out;
  out.devices = trace_memory(window);
  if (out.devices.empty()) return out;
  NameSums sums(window, op_calls(window));
  for (const TraceMemory& memory : out.devices) out.lines.push_back(sums.lines_of(memory));
  return out;
}

// Names of the operators that ask for memory, each put together once.
class Askers {
 public:
  explicit Askers(const WindowView& window)
      : trace_(*window.trace), calls_(op_calls(window).calls) {}

  // aten::empty and its kin are how others allocate: "aten::zeros (aten::empty)".
  std::string_view name_of(std::uint32_t number) {
    if (number == OpCall::kNone) return kOutside;
    const OpCall& call = calls_[number];
    const std::string_view name = trace_.name_text(call.row);
    if (!name.starts_with("aten::empty") || call.parent == OpCall::kNone) return name;
    const Row parent = calls_[call.parent].row;
    const std::uint32_t pair = pairs_.number(trace_.name()[call.row], trace_.name()[parent]);
    if (pair == texts_.size()) {
      texts_.push_back(fmt::format("{} ({})", trace_.name_text(parent), name));
    }
    return texts_[pair];
  }

 private:
  using Row = trace::Row;
  const trace::Trace& trace_;
  const std::vector<OpCall>& calls_;
  PairNumbers pairs_;
  std::deque<std::string> texts_;  // by pair; they stay where they are
};

base::Cell given(Bytes bytes) { return bytes < 0 ? base::Cell(base::Null{}) : base::Cell(bytes); }

void add_memory_operators_peak(base::Table& table, const WindowView& window,
                               const TraceMemory& memory) {
  const MemoryEvent* peak = nullptr;
  const MemoryEvent* last = nullptr;
  Bytes reserved = -1;
  std::int64_t allocations = 0, frees = 0, never_freed = 0, older = 0;
  for (const MemoryEvent& event : memory.events) {
    if (!event.counts) continue;
    if (peak == nullptr || memory.allocated(event) > memory.allocated(*peak)) peak = &event;
    last = &event;
    reserved = std::max(reserved, memory.reserved(event));
    const bool alone = event.partner == 0xffffffff;
    (event.bytes > 0 ? allocations : frees) += 1;
    if (alone) (event.bytes > 0 ? never_freed : older) += 1;
  }
  if (peak == nullptr) return;
  table.add({window.rank, name_of(memory.device), given(memory.allocated(*peak)), peak->time,
             Askers(window).name_of(memory.call(*peak)), given(reserved),
             given(memory.allocated(*last)), allocations, frees, never_freed, older});
}

// An allocation, or a free of which nothing else is known.
struct Listed {
  std::string_view asker;  // of an allocation
  Nanos time;
  Nanos freed;
  std::uint32_t size;  // a number for it
  bool is_allocation, is_freed;
};

// The largest first, those of one size by time. A program asks for few different sizes.
std::vector<std::uint32_t> by_size(const std::vector<Listed>& list,
                                   const std::vector<Bytes>& sizes) {
  std::vector<std::uint32_t> falling(sizes.size());
  std::iota(falling.begin(), falling.end(), 0U);
  std::ranges::sort(falling, std::ranges::greater{}, [&](std::uint32_t i) { return sizes[i]; });
  std::vector<std::uint32_t> count(sizes.size());
  for (const Listed& line : list) ++count[line.size];
  std::vector<std::uint32_t> next(sizes.size());
  std::uint32_t before = 0;
  for (const std::uint32_t size : falling) {
    next[size] = before;
    before += count[size];
  }
  std::vector<std::uint32_t> order(list.size());
  for (std::uint32_t i = 0; i < list.size(); ++i) order[next[list[i].size]++] = i;
  return order;
}

void add_memory_operators_events(base::Table& table, const WindowView& window,
                                 const TraceMemory& memory, Bytes least) {
  const std::string device = name_of(memory.device);
  Askers askers(window);
  base::NumberMap numbers;
  std::vector<Bytes> sizes;
  std::vector<Listed> list;
  for (std::uint32_t i = 0; i < memory.events.size(); ++i) {
    const MemoryEvent& event = memory.events[i];
    const bool is_line = event.bytes > 0 || event.partner == 0xffffffff;
    const Bytes size = std::abs(event.bytes);
    if (!event.counts || !is_line || size < least) continue;
    const auto [number, is_new] = numbers.try_emplace(static_cast<std::uint64_t>(size),
                                                      static_cast<std::uint32_t>(sizes.size()));
    if (is_new) sizes.push_back(size);
    // Looked up here, where the events of one call stand together.
    Listed line{.asker = {},
                .time = event.time,
                .freed = 0,
                .size = number,
                .is_allocation = event.bytes > 0,
                .is_freed = false};
    if (line.is_allocation) {
      line.asker = askers.name_of(memory.call(event));
      line.is_freed = event.partner != 0xffffffff;
      if (line.is_freed) line.freed = memory.events[event.partner].time;
    }
    list.push_back(line);
  }
  table.reserve(table.rows() + list.size());
  for (const std::uint32_t place : by_size(list, sizes)) {
    const Listed& line = list[place];
    const Bytes size = sizes[line.size];
    if (line.is_allocation) {
      table.add({window.rank, device, line.asker, size, line.time,
                 line.is_freed ? base::Cell(line.freed) : base::Null{},
                 line.is_freed ? base::Cell(line.freed - line.time) : base::Null{}});
    } else {
      table.add({window.rank, device, base::Null{}, size, base::Null{}, line.time, base::Null{}});
    }
  }
}

void add_curve(base::Table& table, const WindowView& window, const TraceMemory& memory,
               std::int64_t points) {
  std::vector<const MemoryEvent*> counted;
  for (const MemoryEvent& event : memory.events) {
    if (event.counts && memory.allocated(event) >= 0) counted.push_back(&event);
  }
  if (counted.empty()) return;
  const std::string device = name_of(memory.device);
  const Nanos start = counted.front()->time;
  const Nanos length = counted.back()->time - start + 1;
  __extension__ using Wide = __int128;
  // When the stretch that holds this time is over.
  const auto end_of_stretch = [&](Nanos time) {
    if (points == 0) return time;
    const Wide stretch = static_cast<Wide>(time - start) * points / length;
    return start + static_cast<Nanos>(((stretch + 1) * length + points - 1) / points);
  };
  for (std::size_t i = 0; i < counted.size();) {
    const MemoryEvent* most = counted[i];
    const Nanos end = end_of_stretch(most->time);
    Bytes reserved = -1;
    std::size_t j = i;
    for (; j < counted.size(); ++j) {
      if (j > i && counted[j]->time >= end) break;
      if (memory.allocated(*counted[j]) > memory.allocated(*most)) most = counted[j];
      reserved = std::max(reserved, memory.reserved(*counted[j]));
    }
    table.add({window.rank, device, most->time, memory.allocated(*most), given(reserved)});
    i = j;
  }
}

void add_memory_operators_lines(base::Table& table, std::int32_t rank, const std::string& device,
                                const Lines& lines) {
  std::vector<const Lines::value_type*> order;
  for (const auto& line : lines) order.push_back(&line);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto* line) {
    return std::pair(line->second.self.allocated, line->second.total.allocated);
  });
  for (const auto* line : order) {
    const auto& [self, total, calls] = line->second;
    table.add({rank, device, line->first,
               line->first == kOutside ? base::Cell(base::Null{}) : base::Cell(calls),
               self.allocated, total.allocated, self.increase, total.increase, self.allocations,
               total.allocations});
  }
}

Answer run_memory_operators(const RunView& view, const Options& options) {
  const auto partials = per_window<MemoryOperatorsPartial>(
      view, [](const WindowView& window) { return compute_memory_operators(window); });
  Answer answer;
  for (const base::TableShape& shape : kMemoryOperatorsTables) answer.tables.emplace_back(shape);
  std::map<std::pair<std::int32_t, MemoryDevice>, Lines> merged;
  bool any = false;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    for (std::size_t d = 0; d < partials[w].devices.size(); ++d) {
      const TraceMemory& memory = partials[w].devices[d];
      any = true;
      add_memory_operators_peak(answer.tables[0], window, memory);
      add_memory_operators_events(answer.tables[2], window, memory, options.count("min-bytes"));
      add_curve(answer.tables[3], window, memory, options.count("points"));
      for (const auto& [name, line] : partials[w].lines[d]) {
        MemoryOperatorsLine& sum = merged[{window.rank, memory.device}][name];
        sum.self.add(line.self);
        sum.total.add(line.total);
        sum.calls += line.calls;
      }
    }
  }
  for (const auto& [key, lines] : merged) {
    add_memory_operators_lines(answer.tables[1], key.first, name_of(key.second), lines);
  }
  if (!any) {
    answer.remarks.emplace_back(
        "The trace has no allocations: record with profile_memory=True to see them.");
  }
  return answer;
}

}  // namespace

const Analysis kMemoryOperators{
    .name = "memory-operators",
    .title = "Memory by operator",
    .question = "Which operators allocate memory, and who keeps it?",
    .parameters = kMemoryOperatorsParameters,
    .tables = kMemoryOperatorsTables,
    .run = run_memory_operators,
};

}  // namespace stepscope::analysis
