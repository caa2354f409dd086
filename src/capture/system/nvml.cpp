#include "capture/system/nvml.h"

#include <dlfcn.h>

namespace stepscope::capture {
namespace {

template <class Function>
void find(void* library, Function*& function, const char* name, const char* older = nullptr) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr && older != nullptr) {
    function = reinterpret_cast<Function*>(::dlsym(library, older));
  }
}

}  // namespace

std::optional<std::int64_t> NvmlField::whole() const {
  if (result != 0) return std::nullopt;
  switch (type) {
    case 0:
      return static_cast<std::int64_t>(value.real);
    case 1:
      return value.unsigned_int;
    case 2:
      return static_cast<std::int64_t>(value.unsigned_long);
    case 3:
      return static_cast<std::int64_t>(value.unsigned_long_long);
    case 4:
      return value.signed_long_long;
    case 5:
      return value.signed_int;
    case 6:
      return value.unsigned_short;
    default:
      return std::nullopt;
  }
}

std::optional<Nvml> Nvml::open(const std::string& library, std::string& why_not) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why_not = "NVIDIA GPUs are not measured: there is no " + library + " here.";
    return std::nullopt;
  }
  Nvml nvml{};
  find(handle, nvml.init, "nvmlInit_v2");
  find(handle, nvml.shutdown, "nvmlShutdown");
  find(handle, nvml.device_count, "nvmlDeviceGetCount_v2");
  find(handle, nvml.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(handle, nvml.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  find(handle, nvml.parent_of_part, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  find(handle, nvml.uuid, "nvmlDeviceGetUUID");
  find(handle, nvml.name, "nvmlDeviceGetName");
  find(handle, nvml.minor_number, "nvmlDeviceGetMinorNumber");
  find(handle, nvml.utilization, "nvmlDeviceGetUtilizationRates");
  find(handle, nvml.memory, "nvmlDeviceGetMemoryInfo");
  find(handle, nvml.memory2, "nvmlDeviceGetMemoryInfo_v2");
  find(handle, nvml.power, "nvmlDeviceGetPowerUsage");
  find(handle, nvml.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(handle, nvml.energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(handle, nvml.clock, "nvmlDeviceGetClockInfo");
  find(handle, nvml.temperature, "nvmlDeviceGetTemperature");
  find(handle, nvml.clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons",
       "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(handle, nvml.fields, "nvmlDeviceGetFieldValues");
  find(handle, nvml.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (nvml.init == nullptr || nvml.device_count == nullptr || nvml.device_by_index == nullptr) {
    why_not = "NVIDIA GPUs are not measured: " + library + " is too old.";
    return std::nullopt;
  }
  if (const int error = nvml.init(); error != 0) {
    why_not = "NVIDIA GPUs are not measured: " + library + " does not reach the driver (error " +
              std::to_string(error) + ").";
    return std::nullopt;
  }
  return nvml;
}

}  // namespace stepscope::capture
