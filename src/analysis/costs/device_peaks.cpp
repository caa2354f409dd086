#include "analysis/costs/device_peaks.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace stepscope::analysis {

FoundPeaks peaks_of(const RunView& view, const WindowView& window, std::int32_t device) {
  for (const trace::DeviceProperties& properties : window.trace->header().devices) {
    if (properties.id == device) return find_peaks(properties, view.own_peaks);
  }
  return {std::nullopt, "is not described in the trace"};
}

std::vector<std::string> why_no_peaks(const RunView& view) {
  std::vector<std::string> said;
  for (const WindowView& window : view.windows) {
    for (const DeviceView& device : window.devices) {
      const FoundPeaks found = peaks_of(view, window, device.device);
      if (found.peaks) continue;
      const std::string name = device.name.empty() ? fmt::format("device {}", device.device)
                                                   : fmt::format("\"{}\"", device.name);
      std::string sentence = fmt::format(
          "What {} can do at best is not known: it {}. --peaks FILE tells.", name, found.why_not);
      if (std::ranges::find(said, sentence) == said.end()) said.push_back(std::move(sentence));
    }
  }
  return said;
}

}  // namespace stepscope::analysis
