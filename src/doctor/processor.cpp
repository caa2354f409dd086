// Processors, their clock, host memory and the time of the machine.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

// How many a list such as "0-3,8,10-11" names; 0 where it is not one.
unsigned count_of_list(const std::string& list) {
  unsigned count = 0;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return 0;
    count += static_cast<unsigned>(*last - *first + 1);
  }
  return count;
}

Check cpus_check(const Place& place) {
  Check check{.name = "cpus",
              .why = "DataLoader workers, launching kernels and recording all share them"};
  const auto online = text_of(place.root + "/sys/devices/system/cpu/online");
  const unsigned all = online ? count_of_list(*online) : 0;
  const auto status = text_of(place.root + "/proc/self/status");
  const unsigned allowed =
      status ? count_of_list(field_of(*status, "Cpus_allowed_list").value_or("")) : 0;
  // The list of what is allowed may name CPUs the machine does not have.
  const unsigned seen = all == 0 ? allowed : std::min(allowed == 0 ? all : allowed, all);
  if (seen == 0) {
    check.value = "the kernel does not say";
    return check;
  }
  const unsigned usable = std::min(place.quota_cpus.value_or(seen), seen);
  check.state = State::kGood;
  check.value = fmt::format("{} usable of {}", usable, std::max(all, seen));
  if (place.quota_cpus && *place.quota_cpus < seen) {
    check.state = State::kBad;
    check.value += fmt::format(" (quota {}, {} visible)", *place.quota_cpus, seen);
    check.means = fmt::format(
        "programs see {} CPUs, start as many threads, and are halted when {} are used up", seen,
        *place.quota_cpus);
    check.todo = fmt::format("OMP_NUM_THREADS={0}, and DataLoader workers below {0}", usable);
  } else if (seen < all) {
    check.value += " (affinity)";
  }
  if (usable == 1) {
    check.state = State::kBad;
    check.means = "one CPU loads data, launches kernels and records in turn";
    check.todo = "ask for more: --cpus-per-task under Slurm, --cpus in a container";
  }
  return check;
}

Check memory_check(const Place& place) {
  constexpr std::uint64_t kLittle = std::uint64_t{2} << 30;
  Check check{.name = "memory", .why = "a process that uses more than its group may is killed"};
  const auto text = text_of(place.root + "/proc/meminfo");
  const std::string total = text ? field_of(*text, "MemTotal").value_or("") : "";
  const auto kib = whole_number(total.substr(0, total.find(' ')));
  if (!kib) {
    check.value = "the kernel does not say";
    return check;
  }
  const std::uint64_t all = static_cast<std::uint64_t>(*kib) * 1024;
  const std::uint64_t limit = std::min(place.limit_memory_bytes.value_or(all), all);
  const std::uint64_t free = place.free_memory_bytes.value_or(limit);
  check.value = fmt::format("{} free of {}", size_text(free), size_text(limit));
  if (limit < all) check.value += fmt::format(" (the group's limit; machine: {})", size_text(all));
  check.state = free < kLittle ? State::kBad : State::kGood;
  if (free < kLittle) {
    check.means = "less than 2 GiB are left for training and recording";
    check.todo = "ask for more: --mem under Slurm, --memory in a container";
  }
  return check;
}

bool has_word(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

Check clock_check(const Place& place) {
  Check check{.name = "clock",
              .why =
                  "with a steady counter a range costs two short reads, and times of several "
                  "processes can be compared"};
  const auto info = text_of(place.root + "/proc/cpuinfo");
  auto source =
      text_of(place.root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string by = source ? source->substr(0, source->find('\n')) : "unknown";
  if (!info) {
    check.value = "the kernel does not say";
    return check;
  }
  const auto flags = field_of(*info, "flags");
  if (!flags) {
    const bool arm = field_of(*info, "Features").has_value();
    check.state = arm ? State::kGood : State::kUnknown;
    check.value = arm ? fmt::format("the counter of the architecture, clock source {}", by)
                      : fmt::format("clock source {}", by);
    return check;
  }
  const bool constant = has_word(*flags, "constant_tsc");
  const bool nonstop = has_word(*flags, "nonstop_tsc");
  const bool steady = constant && nonstop;
  check.value = fmt::format("TSC {}, clock source {}",
                            steady     ? "constant and nonstop"
                            : constant ? "constant, but may stop"
                                       : "not constant",
                            by);
  const bool slow_source = by == "hpet" || by == "acpi_pm";
  check.state = steady && !slow_source ? State::kGood : State::kBad;
  if (slow_source) {
    check.means = "reading the time takes about a microsecond instead of some 20 ns";
    check.todo =
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource as "
        "administrator, if dmesg does not call the TSC unstable";
  } else if (!steady) {
    check.means = "recording falls back on the monotonic clock; ranges cost a little more";
    check.todo = "in a virtual machine: have its host pass the invariant TSC through";
  }
  return check;
}

}  // namespace

std::vector<Check> processor_checks(const Place& place) {
  return {cpus_check(place), memory_check(place), clock_check(place)};
}

}  // namespace stepscope::doctor
