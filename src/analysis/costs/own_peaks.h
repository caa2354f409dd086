// Which devices the user's own peaks are for.
#pragma once

#include <string>

#include "analysis/costs/peaks.h"
#include "base/ascii.h"
#include "trace/header.h"

namespace stepscope::analysis {

// Whether an entry is for this device: its name contains `match`, in whatever case.
inline bool fits(const OwnPeaks& entry, const trace::DeviceProperties& device) {
  return base::lowered(device.name).find(base::lowered(entry.match)) != std::string::npos;
}

}  // namespace stepscope::analysis
