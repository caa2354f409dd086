// AMD devices, their driver and rocprofiler.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/library.h"

namespace stepscope::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kProfilers = {
    "librocprofiler-sdk.so.1",
    "librocprofiler-sdk.so.0",
    "libroctracer64.so.4",
    "/opt/rocm/lib/librocprofiler-sdk.so.1",
    "/opt/rocm/lib/librocprofiler-sdk.so.0",
    "/opt/rocm/lib/libroctracer64.so.4",
};

// Nodes of the compute driver that have processors of a GPU.
unsigned devices(const Place& place) {
  unsigned count = 0;
  std::error_code error;
  for (fs::directory_iterator nodes(place.root + "/sys/class/kfd/kfd/topology/nodes", error), end;
       !error && nodes != end; nodes.increment(error)) {
    const auto id = text_of(nodes->path() / "gpu_id");
    if (id && whole_number(*id).value_or(0) != 0) ++count;
  }
  return count;
}

Check amd_device_check(const Place& place, unsigned count) {
  Check check{.name = "amd-device", .why = "without it no AMD device can be used or recorded"};
  std::error_code ignored;
  const bool module = fs::exists(place.root + "/sys/module/amdgpu", ignored);
  const auto version = text_of(place.root + "/sys/module/amdgpu/version");
  if (!module) {
    check.state = State::kMissing;
    check.value = "no amdgpu driver";
    return check;
  }
  if (count == 0) {
    check.state = State::kMissing;
    check.value = "amdgpu is loaded, and shows no compute device";
    return check;
  }
  const std::string door = place.root + "/dev/kfd";
  const bool open = ::access(door.c_str(), R_OK | W_OK) == 0;
  check.state = open ? State::kGood : State::kBad;
  check.value = fmt::format("{} device{}{}", count, count == 1 ? "" : "s",
                            version ? ", amdgpu " + version->substr(0, version->find('\n')) : "");
  if (!open) {
    check.means = "/dev/kfd may not be opened by this user";
    check.todo =
        "usermod -aG render,video USER and log in again; in a container: --device "
        "/dev/kfd --device /dev/dri";
  }
  return check;
}

Check amd_profiler_check(const Place& place) {
  Check check{.name = "rocprofiler", .why = "traces of kernels and copies on AMD come from it"};
  std::string why_not;
  if (const auto library = Library::open(place, kProfilers, why_not)) {
    check.state = State::kGood;
    check.value = library->path();
  } else {
    check.state = State::kMissing;
    check.value = "neither rocprofiler-sdk nor roctracer";
    check.means = "the system has no profiling library of ROCm; torch's package brings its own";
    check.todo = "install rocprofiler-sdk, or put /opt/rocm/lib into LD_LIBRARY_PATH";
  }
  return check;
}

}  // namespace

std::vector<Check> amd_checks(const Place& place) {
  const unsigned count = devices(place);
  std::vector<Check> checks = {amd_device_check(place, count)};
  if (count > 0) checks.push_back(amd_profiler_check(place));
  return checks;
}

}  // namespace stepscope::doctor
