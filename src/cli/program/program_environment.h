// The variables a program is started with: those of this process, and the hook's.
#pragma once

#include <string>
#include <vector>

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

}  // namespace stepscope::cli
