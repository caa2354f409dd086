// Folders of runs: claimed before the start, staged on a local disk, moved at the end.
#include "cli/program/run_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "session/files/run_folder.h"
#include "session/program/program_run.h"

namespace stepscope::cli {

namespace {

constexpr int kMostOfOneSecond = 10'000;

}  // namespace

namespace fs = std::filesystem;

OwnFolder::~OwnFolder() {
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());
}

std::string OwnFolder::claim(const std::string& folder) {
  std::error_code error;
  const std::string above = fs::path(folder).parent_path().string();
  if (fs::create_directory(above, error)) made_.push_back(above);
  for (int number = 1; number <= kMostOfOneSecond; ++number) {
    const std::string ending = number == 1 ? "" : fmt::format("-{}", number);
    const std::string path = folder + ending;
    if (::mkdir(path.c_str(), 0777) == 0) {
      made_.push_back(path);
      return ending;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

std::string why_not_writable(const std::string& folder) {
  fs::path place = fs::path(folder).lexically_normal();
  std::error_code error;
  // What is not there yet will be made in the first folder above that is.
  while (!fs::exists(place, error) && !error && place.has_parent_path() &&
         place != place.parent_path()) {
    place = place.parent_path();
  }
  if (error) return error.message();
  if (!fs::is_directory(place, error)) return std::generic_category().message(ENOTDIR);
  if (::access(place.c_str(), W_OK | X_OK) != 0) return std::generic_category().message(errno);
  // The superuser may do everything, and still no folder can be made in /proc: only trying tells.
  std::string trial = (place / ".stepscope-XXXXXX").string();
  if (::mkdtemp(trial.data()) == nullptr) return std::generic_category().message(errno);
  ::rmdir(trial.c_str());
  return {};
}

std::optional<std::uint64_t> attempt_of_rank(const std::string& rank_folder) {
  return session::attempt_number(fs::path(rank_folder).parent_path().filename().string());
}

std::optional<std::uint64_t> last_attempt(const std::string& run) {
  std::optional<std::uint64_t> last;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run, error)) {
    last = std::max(last, session::attempt_number(entry.path().filename().string()));
  }
  return last;
}

std::vector<std::string> ranks_since(const std::string& folder, fs::file_time_type since) {
  std::vector<std::string> ranks;
  std::error_code error;
  for (const auto& attempt : fs::directory_iterator(folder, error)) {
    const bool is_attempt = session::attempt_number(attempt.path().filename().string()).has_value();
    if (!is_attempt || attempt.last_write_time(error) < since) continue;
    for (const auto& rank : fs::directory_iterator(attempt.path(), error)) {
      const std::string path = rank.path().string();
      if (session::is_in_rank_folder(path + "/rank.json")) ranks.push_back(path);
    }
  }
  return ranks;
}

std::string temporary_place() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen == nullptr || *chosen == '\0' ? "/tmp" : chosen;
}

std::string make_temporary_folder(std::string_view name) {
  for (const std::string& place :
       {temporary_place(), std::string("/tmp"), std::string("/dev/shm")}) {
    std::string made = fmt::format("{}/{}-XXXXXX", place, name);
    if (::mkdtemp(made.data()) != nullptr) return made;
  }
  return {};
}

void remove_folder(const std::string& folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::remove_all(folder, error);
}

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
    if (file < 0 && errno == ENOENT) continue;  // another command removed it just now
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
