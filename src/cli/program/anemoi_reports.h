// The reports that `benchmark_profiler` in the settings asks for: the Python package writes them.
#pragma once

#include <string>

#include "base/result.h"

namespace stepscope::cli {

// As they are shown; the files lie in the folder of the run. `settings` is the group as JSON,
// `package` the folder of the Python package.
base::Result<std::string> write_anemoi_reports(const std::string& run, const std::string& settings,
                                               const std::string& package);

}  // namespace stepscope::cli
