#include "cli/program/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "cli/program/temporary_folder.h"
#include "session/program/move_tree.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kMostPatience = std::chrono::seconds(10);
constexpr std::string_view kLock = "/lock";
constexpr int kMostTries = 16;

// FNV-1a: the same in every process of the launch.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Whether the open file is still the one of this name: the last to leave removes it.
bool is_still_there(int file, const std::string& path) {
  struct stat own{};
  struct stat named{};
  return ::fstat(file, &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

// Whoever ends this job means the program, which has ended: what it recorded is saved first.
class Unhurried {
 public:
  Unhurried() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&set, number);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  Unhurried(const Unhurried&) = delete;
  Unhurried& operator=(const Unhurried&) = delete;
  ~Unhurried() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// One run of the stage: `run` holds its files, `destination` the folder they belong into.
void move_run(const fs::path& staged, StageEnd& end) {
  std::ifstream file(staged / "destination", std::ios::binary);
  const std::string folder{std::istreambuf_iterator<char>(file), {}};
  if (folder.empty()) return;
  const std::string from = (staged / "run").string();
  const session::MovedFiles moved = session::move_tree(from, folder);
  if (moved.left == 0) {
    remove_folder(staged.string());
    end.moved.push_back(folder);
    return;
  }
  end.problems.push_back(
      fmt::format("{} of {} files could not be moved to the run's folder ({}); they lie in {}",
                  moved.left, moved.left + moved.files, moved.first_error, from));
}

}  // namespace

Stage::~Stage() {
  if (lock_ >= 0) ::close(lock_);
}

base::Status Stage::open(const std::string& folder, const Launcher& launcher) {
  folder_ = fmt::format("{}/stepscope-stage-{}-{:016x}", temporary_place(), ::getuid(),
                        hash_of(folder + "\n" + launcher.id));
  const std::string path = folder_ + std::string(kLock);
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) break;
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 && errno == ENOENT) continue;  // somebody left just now
    if (file < 0) break;
    if (::flock(file, LOCK_SH) == 0 && is_still_there(file, path)) {
      lock_ = file;
      return base::Done{};
    }
    ::close(file);
  }
  const int error = errno;
  return base::fail(base::Code::kIo,
                    fmt::format("{}: {}", folder_, std::generic_category().message(error)));
}

bool Stage::is_last(bool patient) {
  const auto deadline = std::chrono::steady_clock::now() + kMostPatience;
  do {
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return true;
    if (patient) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (patient && std::chrono::steady_clock::now() < deadline);
  return false;
}

StageEnd Stage::finish(bool patient) {
  StageEnd end;
  if (lock_ < 0) return end;
  const Unhurried unhurried;
  if (!is_last(patient)) {
    end.is_shared = true;
    return end;
  }
  std::error_code error;
  std::vector<fs::path> staged;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.is_directory(error)) staged.push_back(entry.path());
  }
  for (const fs::path& one : staged) move_run(one, end);
  if (end.problems.empty()) remove_folder(folder_);
  ::close(lock_);
  lock_ = -1;
  return end;
}

}  // namespace stepscope::cli
