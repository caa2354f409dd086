// Which devices the user's own peaks are for.
#pragma once

#include <string>

#include "analysis/costs/peaks.h"
#include "base/ascii.h"
#include "trace/header.h"

namespace stepscope::analysis {

// For every device, also where the trace does not describe or name it.
inline bool is_for_all(const OwnPeaks& entry) { return entry.match == "*"; }

// Whether an entry is for this device: its name contains `match`, in whatever case.
inline bool fits(const OwnPeaks& entry, const trace::DeviceProperties& device) {
  return is_for_all(entry) ||
         base::lowered(device.name).find(base::lowered(entry.match)) != std::string::npos;
}

}  // namespace stepscope::analysis
