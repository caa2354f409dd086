// How much memory a device has, from whoever says it.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/view.h"
#include "base/units.h"

namespace stepscope::analysis {

struct DeviceMemory {
  base::Bytes bytes = 0;
  std::string_view from;  // "given", "trace", "refused by the driver", or:
};
inline constexpr std::string_view kFromOwnLimit = "the process's own limit";

inline constexpr Parameter kDeviceMemoryParameter = {
    "device-memory", ParameterType::kSize, "",
    "memory of the device, as in 80GiB, where the recording does not tell"};

// What the process may take at most, where a request failed though the driver had enough.
std::optional<base::Bytes> own_limit(const HistoryWork& work);

// How much there is to fill: the option first, then the trace of the same rank, then what the
// allocator was refused. Not set: not known.
std::optional<DeviceMemory> device_memory(const RunView& view, const SnapshotView& snapshot,
                                          const HistoryWork& work, const Options& options);

}  // namespace stepscope::analysis
