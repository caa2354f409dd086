// How much memory a device has, from whoever says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/view.h"
#include "base/units.h"

namespace stepscope::analysis {

struct DeviceMemory {
  base::Bytes bytes = 0;
  std::string_view from;  // "given", "trace", "refused by the driver"
};

inline constexpr Parameter kDeviceMemoryParameter = {
    "device-memory", ParameterType::kText, "",
    "memory of the device, as in 80GiB, where the recording does not tell"};

// "80GiB", "80GB", "512 MiB", "85899345920"; not set: not a size.
std::optional<base::Bytes> parse_bytes(std::string_view text);

// The option first, then the trace of the same rank, then what the allocator was refused. Not set:
// nobody says it.
std::optional<DeviceMemory> device_memory(const RunView& view, const SnapshotView& snapshot,
                                          const HistoryWork& work, const Options& options);

// The sentence for an option that is not a size; empty where it is one or not given.
std::string why_not_bytes(const Options& options);

}  // namespace stepscope::analysis
