// Where the Python package is, the variables its hook is started with, and the reports it writes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope::cli {

struct HookVariables {
  std::string package;  // the folder of the Python package
  std::string notes;    // a folder
  std::string plan;     // JSON
  std::string launch;   // empty: the launcher has a name for it
};

// "NAME=value" each.
std::vector<std::string> hooked_environment(const HookVariables& hook);
std::vector<std::string> plain_environment();

// Where the Python package lies whose start-up hook records programs.

// The folder `stepscope` of the package: as the package's own command says, else beside this
// program, else where python3 has it. Empty: nowhere.
std::string hook_package();

// The reports that `benchmark_profiler` in the settings asks for: the Python package writes them.

// As they are shown; the files lie in the folder of the run. `settings` is the group as JSON,
// `package` the folder of the Python package.
base::Result<std::string> write_anemoi_reports(const std::string& run, const std::string& settings,
                                               const std::string& package);

}  // namespace stepscope::cli
