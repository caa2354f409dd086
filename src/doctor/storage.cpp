// Free room on disk and in shared memory.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// The type of the file system that holds `path`, by its device number in mountinfo:
// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"
std::string file_system_of(const Place& place, const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return {};
  const std::string device =
      fmt::format("{}:{}", gnu_dev_major(facts.st_dev), gnu_dev_minor(facts.st_dev));
  const auto mounts = text_of(place.root + "/proc/self/mountinfo");
  std::istringstream lines(mounts.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id;
    std::string parent;
    std::string number;
    words >> id >> parent >> number;
    const std::size_t separator = line.find(" - ");
    if (number != device || separator == std::string::npos) continue;
    std::istringstream rest(line.substr(separator + 3));
    std::string type;
    rest >> type;
    return type;
  }
  return {};
}

bool is_shared(std::string_view type) {
  constexpr std::array<std::string_view, 9> kShared = {
      "nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "9p", "fuse.sshfs"};
  return std::ranges::find(kShared, type) != kShared.end();
}

struct Room {
  std::uint64_t free = 0, all = 0;
};

std::optional<Room> room_of(const std::string& path) {
  struct statvfs facts{};
  if (::statvfs(path.c_str(), &facts) != 0) return std::nullopt;
  return Room{.free = facts.f_bavail * facts.f_frsize, .all = facts.f_blocks * facts.f_frsize};
}

}  // namespace

Check disk_check(const std::string& file_system, std::uint64_t free_bytes,
                 std::uint64_t all_bytes) {
  Check check{.name = "disk",
              .why =
                  "traces and snapshots are written here; a window of a few steps takes 0.1 to "
                  "1 GB a rank"};
  check.value = fmt::format("{} free of {}{}", size_text(free_bytes), size_text(all_bytes),
                            file_system.empty() ? "" : ", " + file_system);
  check.state = free_bytes < 5 * kGiB ? State::kBad : State::kGood;
  if (free_bytes < 5 * kGiB) {
    check.means = "less than 5 GiB are left where a recording would go";
    check.todo = "clean up, or give profile() a folder on another disk";
  } else if (is_shared(file_system)) {
    check.means = "a file system shared over the network: other jobs change how fast it is";
  }
  return check;
}

Check shared_memory_check(std::uint64_t free_bytes, std::uint64_t all_bytes) {
  Check check{.name = "shared-memory",
              .why = "DataLoader workers hand their batches over through /dev/shm"};
  check.value = fmt::format("{} free of {}", size_text(free_bytes), size_text(all_bytes));
  check.state = free_bytes < kGiB ? State::kBad : State::kGood;
  if (free_bytes < kGiB) {
    check.means = "workers may die of a bus error (\"insufficient shared memory\")";
    check.todo = all_bytes < kGiB ? "start the container with --shm-size=16g or --ipc=host"
                                  : "ls -l /dev/shm shows what other processes left there";
  }
  return check;
}

std::vector<Check> storage_checks(const Place& place) {
  std::vector<Check> checks;
  if (const auto room = room_of(place.folder)) {
    checks.push_back(disk_check(file_system_of(place, place.folder), room->free, room->all));
  } else {
    checks.push_back({.name = "disk", .state = State::kUnknown, .value = "cannot be looked at"});
  }
  if (const auto room = room_of(place.root + "/dev/shm")) {
    checks.push_back(shared_memory_check(room->free, room->all));
  } else {
    checks.push_back({.name = "shared-memory",
                      .state = State::kMissing,
                      .value = "no /dev/shm",
                      .means = "DataLoader workers cannot hand over batches as they usually do",
                      .todo = "torch.multiprocessing.set_sharing_strategy('file_system')",
                      .why = "DataLoader workers hand their batches over through /dev/shm"});
  }
  return checks;
}

}  // namespace stepscope::doctor
