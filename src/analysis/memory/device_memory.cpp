// Finds how much memory a device has: from an option, a trace or a refused request.
#include "analysis/memory/device_memory.h"

#include "analysis/memory/simulated/simulated.h"

namespace stepscope::analysis {

std::optional<base::Bytes> own_limit(const HistoryWork& work) {
  const std::optional<Limit> limit = limit_seen(*work.history, work.replay);
  return limit && limit->is_own ? std::optional(limit->at_most) : std::nullopt;
}

std::optional<DeviceMemory> device_memory(const RunView& view, const SnapshotView& snapshot,
                                          const HistoryWork& work, const Options& options) {
  if (const auto given = options.size("device-memory")) return DeviceMemory{*given, "given"};
  for (const WindowView& window : view.windows) {
    if (window.rank != snapshot.rank) continue;
    const auto* device = trace::described(window.trace->header(), work.history->device);
    if (device != nullptr && device->memory_bytes > 0) {
      return DeviceMemory{device->memory_bytes, "trace"};
    }
  }
  if (const std::optional<Limit> limit = limit_seen(*work.history, work.replay)) {
    return DeviceMemory{limit->at_most, limit->is_own ? kFromOwnLimit : "refused by the driver"};
  }
  return std::nullopt;
}

}  // namespace stepscope::analysis
