#include "cli/program_watch.h"

#include <stepscope/stepscope.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "cli/temporary_folder.h"

namespace stepscope::cli {
namespace {

constexpr const char* kRange = "program";

// Where the commands of one launch on this machine say which processes are theirs: the same for all
// of them, and nobody else's to write. Empty: there is no such folder.
std::string meeting_place(const Launcher& launcher) {
  if (!launcher.is_there || launcher.world_size < 2) return {};
  const std::string key = launch_key(launcher, "");
  if (key.empty()) return {};
  std::string place = fmt::format("{}/stepscope-node-{}-{:016x}", temporary_place(), ::getuid(),
                                  std::hash<std::string>()(key));
  ::mkdir(place.c_str(), S_IRWXU);
  struct stat status{};
  const bool is_ours = ::lstat(place.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                       status.st_uid == ::getuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_ours ? place : std::string();
}

// What others left there: those of a launch that died, and those who are still at work.
void remove_files(const std::string& folder, std::string_view beginning) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(beginning)) {
      std::filesystem::remove(entry.path(), error);
    }
  }
}

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
  if (hz > 0) start_system(hz);
}

// One process of a node is enough; the others tell it of theirs.
void ProgramWatch::start_system(double hz) {
  meeting_ = meeting_place(launcher_);
  if (meeting_.empty() && !samples()) return;
  std::string host = host_name();
  std::ranges::replace(host, '/', '_');
  node_ = fmt::format("{}/node-{}", meeting_.empty() ? folder_ : meeting_, host);
  // Again: one who leaves removes the folder while it is empty.
  for (int tries = 0; tries < 2; ++tries) {
    std::error_code error;
    std::filesystem::create_directories(node_, error);
    if (samples()) remove_files(node_, "system");
    const stepscope_system options{.folder = node_.c_str(),
                                   .hz = samples() ? hz : 0,
                                   .rank = launcher_.rank,
                                   .local_rank = launcher_.local_rank,
                                   .proc = nullptr,
                                   .sys = nullptr,
                                   .nvml = nullptr};
    if (stepscope_start_system(&options) == 0) return;
  }
}

void ProgramWatch::stop_system() {
  stepscope_stop_system();
  if (meeting_.empty()) return;
  std::error_code error;
  if (samples()) {
    remove_files(node_, "process-");
    const auto kept = std::filesystem::path(folder_) / std::filesystem::path(node_).filename();
    std::filesystem::rename(node_, kept, error);
  }
  ::rmdir(node_.c_str());
  ::rmdir(meeting_.c_str());
  meeting_.clear();
}

void ProgramWatch::end() {
  if (!is_running_) return;
  is_running_ = false;
  stepscope_end(stepscope_name(kRange));
  stop_system();
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
