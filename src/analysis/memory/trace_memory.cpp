#include "analysis/memory/trace_memory.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/arithmetic/sorted_runs.h"
#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

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

}  // namespace

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

}  // namespace stepscope::analysis
