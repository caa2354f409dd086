#include "cli/program/anemoi_reports.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "cli/options/arguments.h"
#include "doctor/subprocess.h"

namespace stepscope::cli {
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
