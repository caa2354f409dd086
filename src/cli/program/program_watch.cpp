#include "cli/program/program_watch.h"

#include <stepscope/stepscope.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "cli/program/temporary_folder.h"

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

// The lowest local rank of the commands that told of themselves there and are still at work;
// nothing: none is.
std::optional<std::int64_t> first_at_work(const std::string& node) {
  constexpr std::string_view kAnnounced = "process-";
  std::optional<std::int64_t> first;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(node, error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (name.starts_with(kAnnounced)) {
      std::from_chars(name.data() + kAnnounced.size(), name.data() + name.size(), pid);
    }
    if (pid <= 0 || (::kill(pid, 0) != 0 && errno != EPERM)) continue;
    std::ifstream file(entry.path());
    std::string word;
    while (file >> word && word != "local_rank") continue;
    std::int64_t rank = 0;
    if (file >> rank) first = std::min(first.value_or(rank), rank);
  }
  return first;
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
  const bool is_first = launcher_.local_rank == 0;
  if (meeting_.empty() && !is_first) return;
  std::string host = host_name();
  std::ranges::replace(host, '/', '_');
  node_ = fmt::format("{}/node-{}", meeting_.empty() ? folder_ : meeting_, host);
  hz_when_first_ = is_first ? 0 : hz;
  measure(is_first ? hz : 0);
}

void ProgramWatch::measure(double hz) {
  // Again: one who leaves last removes the folder.
  for (int tries = 0; tries < 2; ++tries) {
    std::error_code error;
    std::filesystem::create_directories(node_, error);
    const stepscope_system options{.folder = node_.c_str(),
                                   .hz = hz,
                                   .rank = launcher_.rank,
                                   .local_rank = launcher_.local_rank,
                                   .proc = nullptr,
                                   .sys = nullptr,
                                   .nvml = nullptr};
    if (stepscope_start_system(&options) == 0) return;
  }
}

// Those of one launch do not begin at the same moment.
void ProgramWatch::look() {
  constexpr int kLooksToBegin = 3;
  ++looks_;
  if (hz_when_first_ == 0 || looks_ < kLooksToBegin) return;
  if (first_at_work(node_).value_or(launcher_.local_rank) < launcher_.local_rank) return;
  stepscope_stop_system();
  measure(std::exchange(hz_when_first_, 0));
}

void ProgramWatch::stop_system() {
  stepscope_stop_system();
  hz_when_first_ = 0;
  if (meeting_.empty()) return;
  take_own_samples();
  if (!first_at_work(node_)) remove_folder(node_);  // with what a launch left that was killed
  ::rmdir(meeting_.c_str());
  meeting_.clear();
}

// The file of this command, if it had its turn; each by a name of its own, since they meet again in
// the run's folder.
void ProgramWatch::take_own_samples() {
  stepscope_system_state state{};
  stepscope_get_system(&state);
  const std::filesystem::path written = state.path;
  if (written.empty()) return;
  const auto kept = std::filesystem::path(folder_) / std::filesystem::path(node_).filename();
  std::error_code error;
  std::filesystem::create_directories(kept, error);
  const std::string name = launcher_.local_rank == 0
                               ? "system.scope"
                               : fmt::format("system-rank{:05}.scope", launcher_.rank);
  std::filesystem::rename(written, kept / name, error);
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
