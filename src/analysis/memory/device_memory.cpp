#include "analysis/memory/device_memory.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/memory/simulated.h"

namespace stepscope::analysis {

std::optional<base::Bytes> parse_bytes(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 14> kUnits = {{
      {"", 1},
      {"B", 1},
      {"KiB", 1024.0},
      {"MiB", 1048576.0},
      {"GiB", 1073741824.0},
      {"TiB", 1099511627776.0},
      {"K", 1024.0},
      {"M", 1048576.0},
      {"G", 1073741824.0},
      {"T", 1099511627776.0},
      {"KB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
      {"TB", 1e12},
  }};
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || !(number > 0)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : kUnits) {
    const double bytes = number * factor;
    if (unit == name && bytes >= 1 && bytes < 9e18) return static_cast<base::Bytes>(bytes);
  }
  return std::nullopt;
}

std::optional<DeviceMemory> device_memory(const RunView& view, const SnapshotView& snapshot,
                                          const HistoryWork& work, const Options& options) {
  if (const auto given = parse_bytes(options.text("device-memory"))) {
    return DeviceMemory{*given, "given"};
  }
  for (const WindowView& window : view.windows) {
    if (window.rank != snapshot.rank) continue;
    for (const trace::DeviceProperties& device : window.trace->header().devices) {
      if (device.id == work.history->device && device.memory_bytes > 0) {
        return DeviceMemory{device.memory_bytes, "trace"};
      }
    }
  }
  if (const std::optional<Limit> limit = limit_seen(*work.history, work.followed)) {
    return DeviceMemory{limit->at_most, "refused by the driver"};
  }
  return std::nullopt;
}

std::string why_not_bytes(const Options& options) {
  const std::string_view given = options.text("device-memory");
  if (given.empty() || parse_bytes(given)) return {};
  return fmt::format("'{}' is not a size of memory; 80GiB is one. It was not used.", given);
}

}  // namespace stepscope::analysis
