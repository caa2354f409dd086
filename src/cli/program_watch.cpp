#include "cli/program_watch.h"

#include <stepscope/stepscope.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "cli/temporary_folder.h"

namespace stepscope::cli {
namespace {

constexpr const char* kRange = "program";

}  // namespace

void ProgramWatch::begin(double hz) {
  folder_ = make_temporary_folder("stepscope-program");
  if (folder_.empty()) return;
  std::error_code error;
  const std::string rank = fmt::format("{}/rank{:05}", folder_, launcher_.rank);
  std::filesystem::create_directories(rank, error);
  const std::string number = std::to_string(launcher_.rank);
  const std::string size = std::to_string(launcher_.world_size);
  const std::array<const char*, 6> about = {"rank",       number.c_str(), "world_size",
                                            size.c_str(), "recorded_by",  "command"};
  is_running_ =
      stepscope_start_as(rank.c_str(), "events.scope", about.data(), about.size() / 2) == 0;
  stepscope_begin(stepscope_name(kRange));
  // One process of a node is enough.
  if (hz <= 0 || launcher_.local_rank != 0) return;
  std::string host = host_name();
  std::ranges::replace(host, '/', '_');
  const std::string node = fmt::format("{}/node-{}", folder_, host);
  std::filesystem::create_directories(node, error);
  const stepscope_system options{.folder = node.c_str(),
                                 .hz = hz,
                                 .rank = launcher_.rank,
                                 .local_rank = launcher_.local_rank,
                                 .proc = nullptr,
                                 .sys = nullptr,
                                 .nvml = nullptr};
  (void)stepscope_start_system(&options);
}

void ProgramWatch::end() {
  if (!is_running_) return;
  is_running_ = false;
  stepscope_end(stepscope_name(kRange));
  stepscope_stop_system();
  stepscope_stop();
}

void ProgramWatch::drop() {
  end();
  remove_folder(folder_);
  folder_.clear();
}

base::Result<std::string> ProgramWatch::keep(const session::ProgramRun& run,
                                             const std::string& folder) {
  end();
  return session::keep_program_run(run, folder_, folder);
}

}  // namespace stepscope::cli
