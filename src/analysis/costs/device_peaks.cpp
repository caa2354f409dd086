// Finds the peaks of the devices of a run, and says which are not known.
#include "analysis/costs/device_peaks.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/costs/peaks.h"

namespace stepscope::analysis {
namespace {

void say_once(std::vector<std::string>& said, std::string sentence) {
  if (std::ranges::find(said, sentence) == said.end()) said.push_back(std::move(sentence));
}

std::string in_quotes(std::string_view name) { return fmt::format("\"{}\"", name); }

std::string name_of(const DeviceView& device) {
  return device.name.empty() ? fmt::format("device {}", device.device) : in_quotes(device.name);
}

// Names of all devices the traces describe, each once.
std::vector<std::string> device_names(const RunView& view) {
  std::vector<std::string> names;
  for (const WindowView& window : view.windows) {
    for (const trace::DeviceProperties& device : window.trace->header().devices) {
      if (!device.name.empty()) say_once(names, in_quotes(device.name));
    }
  }
  return names;
}

bool fits_any(const OwnPeaks& entry, const RunView& view) {
  return is_for_all(entry) || std::ranges::any_of(view.windows, [&](const WindowView& window) {
           return std::ranges::any_of(
               window.trace->header().devices,
               [&](const trace::DeviceProperties& device) { return fits(entry, device); });
         });
}

}  // namespace

FoundPeaks peaks_of(const RunView& view, const WindowView& window, std::int32_t device) {
  if (const auto* properties = trace::described(window.trace->header(), device)) {
    return find_peaks(*properties, view.own_peaks);
  }
  const auto own = std::ranges::find_if(view.own_peaks, is_for_all);
  if (own != view.own_peaks.end()) return {own->peaks, {}};
  return {std::nullopt, "is not described in the trace"};
}

std::vector<std::string> remarks_on_peaks(const RunView& view) {
  std::vector<std::string> said;
  for (const WindowView& window : view.windows) {
    for (const DeviceView& device : window.devices) {
      if (!device.name.empty() && !trace::is_listed(window.trace->header(), device.device)) {
        say_once(said, fmt::format("The trace does not describe device {}; it is taken to be a "
                                   "{}, as all that it describes are.",
                                   device.device, in_quotes(device.name)));
      }
      const FoundPeaks found = peaks_of(view, window, device.device);
      if (found.peaks) continue;
      say_once(said,
               fmt::format("What {} can do at best is not known: it {}. --peaks FILE{} tells.",
                           name_of(device), found.why_not,
                           device.name.empty() ? " with 'match: \"*\"'" : ""));
    }
  }
  const std::vector<std::string> names = device_names(view);
  for (const OwnPeaks& entry : view.own_peaks) {
    if (fits_any(entry, view)) continue;
    say_once(said, names.empty()
                       ? fmt::format("The peaks given for \"{}\" are not used: the trace names no "
                                     "device; 'match: \"*\"' is for all.",
                                     entry.match)
                       : fmt::format("The peaks given for \"{}\" are not used: it is in the name "
                                     "of no device of the trace ({}).",
                                     entry.match, fmt::join(names, ", ")));
  }
  return said;
}

std::vector<std::string> why_no_peak_in(const RunView& view, const std::set<Arithmetic>& in_use) {
  std::vector<std::string> said;
  for (const Arithmetic arithmetic : in_use) {
    for (const WindowView& window : view.windows) {
      for (const DeviceView& device : window.devices) {
        if (device.compute.empty()) continue;
        const FoundPeaks found = peaks_of(view, window, device.device);
        if (!found.peaks || found.peaks->matrix_flops(arithmetic) > 0) continue;
        say_once(said,
                 fmt::format("What {} can do at best in {} is not known, so shares of that peak "
                             "are empty: the peaks of \"{}\" have no {}. --peaks FILE tells.",
                             name_of(device), name_of(arithmetic), found.peaks->name,
                             name_of(arithmetic)));
      }
    }
  }
  return said;
}

}  // namespace stepscope::analysis
