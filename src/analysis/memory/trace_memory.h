// Allocations and frees as a trace tells them ("[memory]" instants), for host and devices: each
// allocation with its free, found by the address, and with the operator that asked for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/operators/op_times.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct MemoryDevice {
  std::int16_t type = 0;  // c10::DeviceType
  std::int16_t id = -1;
  auto operator<=>(const MemoryDevice&) const = default;
};
std::string name_of(MemoryDevice device);  // "cpu", "cuda:0"

// One instant.
struct MemoryEvent {
  base::Nanos time = 0;
  base::Bytes bytes = 0;                                // negative: a free
  base::Bytes total_allocated = 0, total_reserved = 0;  // behind it; -1 where not given
  std::uint64_t address = 0;
  std::uint32_t ordinal = 0;           // place in the file
  std::uint32_t call = OpCall::kNone;  // the operator that was running; into OpTimes::calls
  std::uint32_t partner = 0xffffffff;  // its free or its allocation, in the same list
  bool counts = true;                  // of a step that was asked for
};

struct TraceMemory {
  MemoryDevice device;
  std::vector<MemoryEvent> events;  // by time, then by place in the file
};

// By device.
std::vector<TraceMemory> trace_memory(const WindowView& window);

}  // namespace stepscope::analysis
