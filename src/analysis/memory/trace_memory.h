// Allocations and frees as a trace tells them ("[memory]" instants), for host and devices: each
// allocation with its free, found by the address, and with the operator that asked for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/operators/op_marks.h"
#include "analysis/view.h"

namespace stepscope::analysis {

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
  // Behind it; -1 where not given.
  base::Bytes allocated(const MemoryEvent& event) const {
    return table->total_allocated[event.entry];
  }
  base::Bytes reserved(const MemoryEvent& event) const {
    return table->total_reserved[event.entry];
  }
};

// By device.
std::vector<TraceMemory> trace_memory(const WindowView& window);

}  // namespace stepscope::analysis
