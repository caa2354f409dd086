// Memory of the processes of a group, from /proc.
#include "cli/program/group_memory.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace stepscope::cli {
namespace {

bool is_process(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

// The fifth word of `stat`, after a name that may hold anything.
int group_of(const std::string& folder) {
  std::ifstream file(folder + "/stat");
  std::string text;
  if (!std::getline(file, text)) return -1;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::stringstream words(text.substr(name_end + 1));
  std::string state;
  int parent = 0;
  int group = -1;
  words >> state >> parent >> group;
  return group;
}

std::uint64_t memory_of(const std::string& folder) {
  std::ifstream rollup(folder + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (!line.starts_with("Pss:")) continue;
    std::stringstream words(line.substr(4));
    std::uint64_t kib = 0;
    if (words >> kib) return kib * 1024;
  }
  std::ifstream statm(folder + "/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(statm >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t group_memory_bytes(int group) {
  std::uint64_t sum = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (!is_process(entry->path().filename().string())) continue;
    const std::string folder = entry->path().string();
    if (group_of(folder) == group) sum += memory_of(folder);
  }
  return sum;
}

std::optional<SharedMemory> shared_memory() {
  struct statvfs facts{};
  if (::statvfs("/dev/shm", &facts) != 0 || facts.f_blocks == 0) return std::nullopt;
  const std::uint64_t block = facts.f_frsize;
  return SharedMemory{.used_bytes = (facts.f_blocks - facts.f_bfree) * block,
                      .free_bytes = facts.f_bavail * block};
}

}  // namespace stepscope::cli
