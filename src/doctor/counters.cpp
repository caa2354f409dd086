// Whether this user may read performance counters of GPUs and sample processors.
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/library.h"

namespace stepscope::doctor {
namespace {

constexpr std::array<std::string_view, 1> kCountersCudaNames = {"libcuda.so.1"};
constexpr std::array<std::string_view, 5> kCuptiNames = {
    "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11", "libcupti.so"};

Check cupti_check(const Place& place) {
  Check check{.name = "cupti",
              .why = "traces of kernels and copies come from it; torch.profiler opens it too"};
  std::string why_not;
  const auto library = Library::open(place, kCuptiNames, why_not);
  int (*version_of)(std::uint32_t*) = nullptr;
  if (!library) {
    check.state = State::kMissing;
    check.value = "no libcupti.so";
    check.means =
        "neither the system nor the interpreter's packages have it; torch of a package "
        "may have it built in (see torch-profiler)";
    check.todo =
        "pip install nvidia-cuda-cupti-cu12, or the cuda-cupti package of the system; "
        "then its folder into LD_LIBRARY_PATH";
    return check;
  }
  std::uint32_t version = 0;
  check.state = State::kGood;
  check.value = library->path();
  // Without the driver even this question ends in a crash of the library.
  const bool may_ask = Library::open(place, kCountersCudaNames, why_not).has_value();
  if (may_ask && library->find(version_of, "cuptiGetVersion") && version_of(&version) == 0) {
    check.value = fmt::format("version {}, {}", version, library->path());
  }
  return check;
}

bool has_admin(const Place& place) {
  constexpr unsigned kSysAdmin = 21;
  const auto status = text_of(place.root + "/proc/self/status");
  const std::string mask = status ? field_of(*status, "CapEff").value_or("") : "";
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(mask.data(), mask.data() + mask.size(), bits, 16);
  return error == std::errc() && end != mask.data() && (bits >> kSysAdmin & 1) != 0;
}

Check permission_check(const Place& place) {
  Check check{.name = "counters",
              .why = "hardware counters (Nsight Compute, CUPTI's metrics) need it; traces do not"};
  const auto params = text_of(place.root + "/proc/driver/nvidia/params");
  const auto only_admin = params ? field_of(*params, "RmProfilingAdminOnly") : std::nullopt;
  const bool admin = has_admin(place);
  if (!only_admin) {
    check.state = State::kUnknown;
    check.value = "the driver does not say";
    check.means = "/proc/driver/nvidia/params has no RmProfilingAdminOnly";
    return check;
  }
  if (*only_admin == "0" || admin) {
    check.state = State::kGood;
    check.value = *only_admin == "0" ? "open to all users" : "this process has CAP_SYS_ADMIN";
    return check;
  }
  check.state = State::kBad;
  check.value = "administrators only";
  check.means = "counters give ERR_NVGPUCTRPERM here; traces work all the same";
  check.todo =
      "as administrator: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > "
      "/etc/modprobe.d/nvidia-profiling.conf and load the driver again; in a container: "
      "--cap-add SYS_ADMIN";
  return check;
}

Check perf_check(const Place& place) {
  Check check{.name = "perf-events", .why = "sampling what the CPU does (perf, py-spy) needs it"};
  const auto text = text_of(place.root + "/proc/sys/kernel/perf_event_paranoid");
  const auto level = text ? whole_number(*text) : std::nullopt;
  if (!level) {
    check.state = State::kUnknown;
    check.value = "the kernel does not say";
    return check;
  }
  const bool open = *level <= 2 || has_admin(place);
  check.state = open ? State::kGood : State::kBad;
  check.value = fmt::format("perf_event_paranoid is {}", *level);
  if (!open) {
    check.means = "users may not sample their own processes";
    check.todo = "as administrator: sysctl kernel.perf_event_paranoid=2";
  }
  return check;
}

}  // namespace

std::vector<Check> cupti_checks(const Place& place) {
  const bool nvidia = text_of(place.root + "/proc/driver/nvidia/version").has_value();
  if (!nvidia && place.package_folders.empty() && place.library_folder.empty()) return {};
  return {cupti_check(place)};
}

std::vector<Check> counter_checks(const Place& place) {
  std::vector<Check> checks;
  if (text_of(place.root + "/proc/driver/nvidia/version")) {
    checks.push_back(permission_check(place));
  }
  checks.push_back(perf_check(place));
  return checks;
}

}  // namespace stepscope::doctor
