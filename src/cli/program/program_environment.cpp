#include "cli/program/program_environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/options/arguments.h"

namespace stepscope::cli {

std::vector<std::string> hooked_environment(const HookVariables& hook) {
  std::vector<std::pair<std::string, std::string>> own = {
      {"STEPSCOPE_RUN_NOTES", hook.notes},
      {"STEPSCOPE_RUN_PLAN", hook.plan},
      {"PYTHONPATH", hook.package + "/startup"},
  };
  if (const auto before = process_environment("PYTHONPATH"); before && !before->empty()) {
    own.back().second += ":" + *before;
  }
  // torch's tracer writes to standard error, which is the program's.
  if (!process_environment("KINETO_LOG_LEVEL")) own.emplace_back("KINETO_LOG_LEVEL", "99");
  if (!hook.launch.empty()) own.emplace_back("STEPSCOPE_LAUNCH", hook.launch);
  std::vector<std::string> out;
  for (std::string& text : plain_environment()) {
    const std::string_view name = std::string_view(text).substr(0, text.find('='));
    const bool is_ours =
        name == "STEPSCOPE_PACKAGE" || name == "STEPSCOPE_PACKAGE_PYTHON" ||
        name == "STEPSCOPE_PYTHON" ||
        std::ranges::any_of(own, [&](const auto& one) { return one.first == name; });
    if (!is_ours) out.push_back(std::move(text));
  }
  for (const auto& [name, value] : own) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

std::vector<std::string> plain_environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

}  // namespace stepscope::cli
