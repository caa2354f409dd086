// Where the Python package is, the variables that switch its hook on, and the reports it writes.
#include "cli/program/program_environment.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/options/arguments.h"
#include "doctor/subprocess.h"

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

namespace {

bool has_hook(const std::string& package) {
  std::error_code error;
  return !package.empty() &&
         std::filesystem::is_regular_file(package + "/startup/sitecustomize.py", error);
}

std::string beside_this_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return (program.parent_path().parent_path() / "python" / "stepscope").string();
}

std::string known_to_python() {
  const auto answers = doctor::run_subprocesses(
      {{.program = {"python3", "-c", "import stepscope; print(stepscope.__path__[0])"}}});
  std::string text = answers.front().text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // before it: what a sitecustomize printed
}

}  // namespace

std::string hook_package() {
  if (const auto given = process_environment("STEPSCOPE_PACKAGE"); given && has_hook(*given)) {
    return *given;
  }
  if (std::string beside = beside_this_program(); has_hook(beside)) return beside;
  if (std::string known = known_to_python(); has_hook(known)) return known;
  return {};
}

namespace {

// A run of a thousand ranks takes its time.
constexpr std::chrono::minutes kMostTime{10};

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

base::Result<std::string> write_anemoi_reports(const std::string& run, const std::string& settings,
                                               const std::string& package) {
  // The Python that the package's own command runs in; else the one that found the package.
  const std::string python = process_environment("STEPSCOPE_PACKAGE_PYTHON").value_or("python3");
  const std::string path = std::filesystem::path(package).parent_path().string();
  const auto answers =
      doctor::run_subprocesses({{.program = {"env", "PYTHONPATH=" + path, python, "-m",
                                             "stepscope.launched.anemoi_reports", run, settings},
                                 .limit = kMostTime}});
  const doctor::Returned& answer = answers.front();
  if (answer.ending == doctor::Ending::kDone && answer.number == 0) return answer.text;
  const std::string why = last_line(answer.text);
  return base::fail(base::Code::kIo,
                    why.empty() ? fmt::format("{} could not be run", python) : why);
}

}  // namespace stepscope::cli
