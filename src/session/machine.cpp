// Cores and memory that this process may use, from cgroups, affinity and Slurm.
#include "session/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/control_groups.h"

namespace stepscope::session {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

template <class T>
std::optional<T> number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> number_in(const std::string& path) {
  const auto line = first_line(path);
  return line ? number<T>(*line) : std::nullopt;
}

// The folders with a controller's limits of this process: of its group and of all around it.
std::vector<std::string> folders(const std::string& root, std::string_view controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> found;
  for (const base::ControlGroup& group : base::control_groups(text)) {
    if (!group.is_unified() && !group.has_controller(controller)) continue;
    for (const std::string& mount : group.mounts(root + "/sys/fs/cgroup")) {
      for (std::string& folder : base::folders_up(mount, group.path)) {
        found.push_back(std::move(folder));
      }
    }
  }
  return found;
}

// CPUs by quota, rounded up; "max 100000" means none.
std::optional<unsigned> quota_in(const std::string& folder) {
  double quota = 0;
  double period = 0;
  if (const auto line = first_line(folder + "/cpu.max")) {
    std::stringstream words(*line);
    if (!(words >> quota >> period)) return std::nullopt;
  } else {
    quota = static_cast<double>(number_in<std::int64_t>(folder + "/cpu.cfs_quota_us").value_or(-1));
    period =
        static_cast<double>(number_in<std::int64_t>(folder + "/cpu.cfs_period_us").value_or(0));
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<unsigned>(std::min(quota / period + 0.999, 1e6));
}

// Page cache can be given back, so the kernel counts it as used and we do not.
std::uint64_t cache_in(const std::string& folder) {
  std::ifstream file(folder + "/memory.stat");
  std::uint64_t cache = 0;
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;) {
    if (key == "inactive_file" || key == "active_file") cache += value;
  }
  return cache;
}

std::optional<std::uint64_t> memory_limit_in(const std::string& folder) {
  auto limit = number_in<std::uint64_t>(folder + "/memory.max");
  if (!limit) limit = number_in<std::uint64_t>(folder + "/memory.limit_in_bytes");
  if (!limit || *limit > (std::uint64_t{1} << 60)) return std::nullopt;  // version 1's "no limit"
  return limit;
}

std::optional<std::uint64_t> memory_left_in(const std::string& folder) {
  const auto limit = memory_limit_in(folder);
  if (!limit) return std::nullopt;
  auto used = number_in<std::uint64_t>(folder + "/memory.current");
  if (!used) used = number_in<std::uint64_t>(folder + "/memory.usage_in_bytes");
  const std::uint64_t cache = cache_in(folder);
  const std::uint64_t busy = used && *used > cache ? *used - cache : 0;
  return *limit > busy ? *limit - busy : 0;
}

// Left of the address space that the process may have: `ulimit -v`, as batch systems set it.
std::optional<std::uint64_t> address_space_left(const MachineView& machine) {
  std::uint64_t limit = machine.address_space;
  if (limit == 0) {
    rlimit own{};
    if (::getrlimit(RLIMIT_AS, &own) != 0 || own.rlim_cur == RLIM_INFINITY) return std::nullopt;
    limit = own.rlim_cur;
  }
  const std::uint64_t pages =
      number_in<std::uint64_t>(machine.root + "/proc/self/statm").value_or(0);
  const std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit > used ? limit - used : 0;
}

unsigned affinity_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More than 1024 CPUs do not fit the fixed set; then the count of all is the best answer.
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

std::optional<unsigned> quota_cpus(const MachineView& machine) {
  std::optional<unsigned> least;
  for (const std::string& folder : folders(machine.root, "cpu")) {
    if (const auto quota = quota_in(folder)) least = std::min(least.value_or(*quota), *quota);
  }
  return least;
}

std::optional<std::uint64_t> memory_limit(const MachineView& machine) {
  std::optional<std::uint64_t> least;
  for (const std::string& folder : folders(machine.root, "memory")) {
    const auto limit = memory_limit_in(folder);
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

unsigned usable_cpus(const MachineView& machine) {
  unsigned cpus = machine.affinity > 0 ? machine.affinity : affinity_of_process();
  if (const auto quota = quota_cpus(machine)) cpus = std::min(cpus, *quota);
  if (const auto given = number<unsigned>(machine.slurm_cpus)) cpus = std::min(cpus, *given);
  return std::max(1u, cpus);
}

std::optional<std::uint64_t> available_memory(const MachineView& machine) {
  std::optional<std::uint64_t> available;
  std::ifstream file(machine.root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemAvailable:")) continue;
    if (const auto kib = number<std::uint64_t>(std::string_view(line).substr(13))) {
      available = *kib * 1024;
    }
  }
  for (const std::string& folder : folders(machine.root, "memory")) {
    const auto left = memory_left_in(folder);
    if (left) available = std::min(available.value_or(*left), *left);
  }
  if (const auto left = address_space_left(machine)) {
    available = std::min(available.value_or(*left), *left);
  }
  return available;
}

std::optional<std::uint64_t> default_memory(const MachineView& machine) {
  const auto available = available_memory(machine);
  return available ? std::optional(*available / 4 * 3) : std::nullopt;
}

}  // namespace stepscope::session
