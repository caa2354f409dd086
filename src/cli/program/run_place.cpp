#include "cli/program/run_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "session/files/run_folder.h"

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

}  // namespace stepscope::cli
