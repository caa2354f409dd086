// The YAML file in which a user says what devices can do at best (docs/metrics/peaks.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/costs/peaks.h"
#include "base/result.h"

namespace stepscope::session {

base::Result<std::vector<analysis::OwnPeaks>> read_peaks(const std::string& path);

// Errors begin with `name` and the place: "peaks.yaml:3:7: …".
base::Result<std::vector<analysis::OwnPeaks>> parse_peaks(const std::string& text,
                                                          std::string_view name);

}  // namespace stepscope::session
