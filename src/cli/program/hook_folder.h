// Where the Python package lies whose start-up hook records programs.
#pragma once

#include <string>

namespace stepscope::cli {

// The folder `stepscope` of the package: told by the package's own command, else beside this
// program, else where python3 has it. Empty: nowhere.
std::string hook_package();

}  // namespace stepscope::cli
