// NVIDIA devices: driver, NVML, CUDA and CUPTI.
#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/cuda.h"

namespace stepscope::doctor {
namespace {

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat ...": the first word of digits
// and dots.
std::string version_in(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;) {
    const bool plain =
        std::ranges::all_of(word, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    if (plain && word.find('.') != std::string::npos) return word;
  }
  return {};
}

Check driver_check(const Place& place, const std::string& by_nvml) {
  Check check{.name = "nvidia-driver",
              .why = "without the driver no NVIDIA device can be used or recorded"};
  const auto file = text_of(place.root + "/proc/driver/nvidia/version");
  check.value = file ? version_in(*file) : "";
  if (check.value.empty()) check.value = by_nvml;
  if (!check.value.empty()) {
    check.state = State::kGood;
  } else if (file) {
    check.state = State::kUnknown;
    check.value = "version not readable";
  } else {
    check.state = State::kMissing;
    check.value = "no kernel module of NVIDIA";
    check.means = "this machine has no NVIDIA device, or this container may not see it";
    check.todo =
        "where there is a device: install its driver, or start the container with --gpus all";
  }
  return check;
}

Check nvml_check(const Place& place, std::string& driver_version) {
  Check check{.name = "nvml",
              .why = "power, clocks, temperature and the speed of the link are read through it"};
  const auto nvml = Nvml::open(place);
  if (!nvml) {
    check.state = nvml.error().code == base::Code::kNotFound ? State::kMissing : State::kBad;
    check.value = nvml.error().message;
    check.means = "the driver's management library cannot be used";
    check.todo =
        "install the driver's package with libnvidia-ml.so.1; in a container set "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility";
    return check;
  }
  if (const int error = nvml->init(); error != 0) {
    check.state = State::kBad;
    check.value = fmt::format("nvmlInit gives error {}", error);
    check.means = error == 18 ? "the library and the kernel module have different versions"
                              : "the library does not reach the driver";
    check.todo = error == 18 ? "load the new module, usually by a restart of the machine"
                             : "nvidia-smi says more";
    return check;
  }
  std::array<char, 96> version{};
  if (nvml->driver_version(version.data(), static_cast<unsigned>(version.size()) - 1) == 0) {
    driver_version = version.data();
  }
  unsigned count = 0;
  check.state = nvml->device_count(&count) == 0 ? State::kGood : State::kBad;
  check.value = fmt::format("{} device{}", count, count == 1 ? "" : "s");
  return check;
}

Check cuda_check(const Place& place) {
  Check check{.name = "cuda-driver", .why = "torch and CUPTI talk to the device through it"};
  const auto driver = CudaDriver::open(place);
  if (!driver) {
    check.state = driver.error().code == base::Code::kNotFound ? State::kMissing : State::kBad;
    check.value = driver.error().message;
    check.means = "CUDA programs cannot run here";
    check.todo =
        "install the driver's package with libcuda.so.1; in a container start it with "
        "--gpus all";
    return check;
  }
  if (const int error = driver->init(0); error != 0) {
    CudaTrouble trouble = trouble_of(error);
    check.state = State::kBad;
    check.value = fmt::format("cuInit gives error {}", error);
    check.means = std::move(trouble.means);
    check.todo = std::move(trouble.todo);
    return check;
  }
  int version = 0;
  int count = 0;
  (void)driver->driver_version(&version);
  (void)driver->device_count(&count);
  check.value = fmt::format("CUDA {}.{}, {} device{}", version / 1000, version % 1000 / 10, count,
                            count == 1 ? "" : "s");
  check.state = count > 0 ? State::kGood : State::kBad;
  if (count == 0) {
    CudaTrouble trouble = trouble_of(100);
    check.means = std::move(trouble.means);
    check.todo = std::move(trouble.todo);
    return check;
  }
  const DeviceFacts first = driver->facts(0);
  check.value += fmt::format(": {}, {}", first.name,
                             size_text(static_cast<std::uint64_t>(first.memory_bytes)));
  return check;
}

}  // namespace

std::vector<Check> nvidia_checks(const Place& place) {
  std::string driver_version;
  Check nvml = nvml_check(place, driver_version);
  Check driver = driver_check(place, driver_version);
  Check cuda = cuda_check(place);
  if (driver.state == State::kMissing) {  // said once is enough
    for (Check* check : {&nvml, &cuda}) {
      if (check->state != State::kMissing) continue;
      check->value = "not there, as the driver";
      check->means.clear();
      check->todo.clear();
    }
  }
  return {std::move(driver), std::move(nvml), std::move(cuda)};
}

}  // namespace stepscope::doctor
