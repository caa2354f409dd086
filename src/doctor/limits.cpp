// Limits of the shell (ulimit) that training runs into.
#include <filesystem>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

// The soft limit on the line of /proc/self/limits that begins with `title`.
std::string soft_limit(const std::string& limits, std::string_view title) {
  std::istringstream lines(limits);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(title)) continue;
    std::istringstream words(line.substr(title.size()));
    std::string soft;
    words >> soft;
    return soft;
  }
  return {};
}

struct Limit {
  std::string_view name, title;
  std::int64_t least;
  std::string_view why, means, todo;
  bool is_bytes = false;  // shown in KiB, as ulimit takes it
};

constexpr Limit kOpenFiles{.name = "open-files",
                           .title = "Max open files",
                           .least = 4096,
                           .why = "DataLoader workers and data sets of many files keep them open",
                           .means = "training may end with \"Too many open files\"",
                           .todo = "ulimit -n 65536 before the training starts"};
constexpr Limit kProcesses{.name = "processes",
                           .title = "Max processes",
                           .least = 4096,
                           .why = "every thread counts, also those of the libraries",
                           .means = "starting threads or workers may fail",
                           .todo = "ulimit -u 65536 before the training starts"};
constexpr Limit kLocked{.name = "locked-memory",
                        .title = "Max locked memory",
                        .least = std::int64_t{1} << 30,
                        .why = "InfiniBand registers the memory it sends from",
                        .means = "NCCL over InfiniBand may fail to register its buffers",
                        .todo = "ulimit -l unlimited, or --ulimit memlock=-1 for a container",
                        .is_bytes = true};

Check limit_check(const std::string& limits, const Limit& limit, bool matters) {
  Check check{.name = std::string(limit.name), .why = std::string(limit.why)};
  const std::string soft = soft_limit(limits, limit.title);
  const auto number = whole_number(soft);
  if (soft != "unlimited" && !number) {
    check.value = "the kernel does not say";
    return check;
  }
  check.value = number && limit.is_bytes ? fmt::format("{} KiB", *number / 1024) : soft;
  check.state = !matters || !number || *number >= limit.least ? State::kGood : State::kBad;
  if (check.state == State::kBad) {
    check.means = limit.means;
    check.todo = limit.todo;
  } else if (!matters) {
    check.value += ", and no InfiniBand";
  }
  return check;
}

}  // namespace

std::vector<Check> limit_checks(const Place& place) {
  const std::string limits = text_of(place.root + "/proc/self/limits").value_or("");
  std::error_code error;
  std::filesystem::directory_iterator cards(place.root + "/sys/class/infiniband", error);
  const bool infiniband = !error && cards != std::filesystem::directory_iterator();
  return {limit_check(limits, kOpenFiles, true), limit_check(limits, kProcesses, true),
          limit_check(limits, kLocked, infiniband)};
}

}  // namespace stepscope::doctor
