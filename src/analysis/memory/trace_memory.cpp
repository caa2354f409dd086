#include "analysis/memory/trace_memory.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/arithmetic/number_map.h"
#include "analysis/arithmetic/sorted_runs.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

constexpr std::uint32_t kNoEntry = 0xffffffff;

// The innermost operator that is running at each memory event, by entry of the table. Instants have
// no place in the call tree; rows of a track come by start, so the running ones are a stack.
std::vector<std::uint32_t> running_calls(const trace::Trace& trace, const OpTimes& times) {
  const trace::MemoryTable& table = trace.memory_events();
  std::vector<std::uint32_t> calls(table.rows.size(), OpCall::kNone);
  struct Running {
    base::Nanos end;
    std::uint32_t call;
  };
  std::vector<Running> running;
  for (const trace::Track& track : trace.tracks()) {
    running.clear();
    for (Row row = track.begin; row < track.end; ++row) {
      // One that ends now is over for its followers, but what happens now is still its own.
      if (const std::uint32_t call = times.find(row); call != OpCall::kNone) {
        const base::Nanos now = trace.start()[row];
        while (!running.empty() && running.back().end <= now) running.pop_back();
        running.push_back({trace.end(row), call});
      } else if (const std::uint32_t entry = table.rows.find(row); entry != base::RowSet::kNone) {
        const base::Nanos now = trace.start()[row];
        while (!running.empty() && running.back().end < now) running.pop_back();
        if (!running.empty()) calls[entry] = running.back().call;
      }
    }
  }
  return calls;
}

// A free belongs to the last allocation at its address that has not been freed. An allocator gives
// the same few addresses again and again: a table of them stays small.
void pair_up(std::vector<MemoryEvent>& events) {
  NumberMap open_at;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    std::uint32_t& open = open_at.try_emplace(events[i].address, kNoEntry).number;
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
  const std::vector<std::uint32_t> calls = running_calls(trace, op_times(window));
  std::map<MemoryDevice, std::vector<MemoryEvent>> devices;
  MemoryDevice last{};
  std::vector<MemoryEvent>* of_last = nullptr;
  table.rows.for_each([&](Row row, std::uint32_t entry) {
    if ((trace.flags()[row] & trace::kFarTime) != 0) return;
    MemoryEvent event;
    event.time = trace.start()[row];
    event.bytes = table.bytes[entry];
    event.total_allocated = table.total_allocated[entry];
    event.total_reserved = table.total_reserved[entry];
    event.address = table.address[entry];
    event.ordinal = trace.ordinal()[row];
    event.call = calls[entry];
    event.counts = window.counts_at(event.time);
    const MemoryDevice device{table.device_type[entry], table.device_id[entry]};
    if (of_last == nullptr || last != device) {
      of_last = &devices[device];
      last = device;
    }
    of_last->push_back(event);
  });
  std::vector<TraceMemory> out;
  for (auto& [device, events] : devices) {
    order_by_time(events);
    pair_up(events);
    out.push_back({device, std::move(events)});
  }
  return out;
}

}  // namespace stepscope::analysis
