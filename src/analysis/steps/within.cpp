// Chooses the time a breakdown is of: selected steps, or first to last work of a device.
#include "analysis/steps/within.h"

#include <algorithm>
#include <optional>

namespace stepscope::analysis {

Within within_of(const Options& options) {
  return options.text(kWithin.name) == "work" ? Within::kWork : Within::kSteps;
}

Intervals measured_time(const WindowView& window, const DeviceView& device, Within within) {
  if (within == Within::kSteps) return window.measured;
  std::optional<Interval> reach;
  for (const Work& piece : window.work_of(device)) {
    if (!window.counts(piece)) continue;
    if (!reach) reach = {piece.start, piece.end};
    reach->end = std::max(reach->end, piece.end);
  }
  if (!reach || reach->length() == 0) return {};
  return {*reach};
}

}  // namespace stepscope::analysis
