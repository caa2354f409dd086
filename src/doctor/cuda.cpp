// Opens the CUDA driver and NVML at run time, and prepares a device for measurements.
#include "doctor/cuda.h"

#include <array>

#include <fmt/format.h>

#include "doctor/check.h"

namespace stepscope::doctor {

namespace {

using base::Code;
using base::fail;

constexpr std::array<std::string_view, 2> kCudaLibraryNames = {"libcuda.so.1", "libcuda.so"};
constexpr std::array<std::string_view, 2> kNvmlNames = {"libnvidia-ml.so.1", "libnvidia-ml.so"};

constexpr int kMultiprocessors = 16, kComputeMajor = 75, kComputeMinor = 76;

// Remembers the first function that is not there.
class Finder {
 public:
  explicit Finder(const Library& library) : library_(library) {}
  template <class Function>
  void operator()(Function*& function, const char* name) {
    if (!library_.find(function, name) && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  const Library& library_;
  std::string missing_;
};

}  // namespace

base::Result<CudaDriver> CudaDriver::open(const Place& place) {
  std::string why_not;
  const auto library = Library::open(place, kCudaLibraryNames, why_not);
  if (!library) return fail(Code::kNotFound, why_not);
  CudaDriver driver;
  Finder find(*library);
  find(driver.init, "cuInit");
  find(driver.driver_version, "cuDriverGetVersion");
  find(driver.device_count, "cuDeviceGetCount");
  find(driver.device_get, "cuDeviceGet");
  find(driver.device_name, "cuDeviceGetName");
  find(driver.device_attribute, "cuDeviceGetAttribute");
  find(driver.device_memory, "cuDeviceTotalMem_v2");
  find(driver.device_bus_id, "cuDeviceGetPCIBusId");
  find(driver.context_retain, "cuDevicePrimaryCtxRetain");
  find(driver.context_set, "cuCtxSetCurrent");
  find(driver.context_synchronize, "cuCtxSynchronize");
  find(driver.memory_info, "cuMemGetInfo_v2");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.allocate_host, "cuMemAllocHost_v2");
  find(driver.copy_to_device, "cuMemcpyHtoD_v2");
  find(driver.copy_to_device_async, "cuMemcpyHtoDAsync_v2");
  find(driver.event_create, "cuEventCreate");
  find(driver.event_record, "cuEventRecord");
  find(driver.event_synchronize, "cuEventSynchronize");
  find(driver.event_elapsed, "cuEventElapsedTime");
  if (!find.missing().empty()) {
    return fail(Code::kUnsupported, fmt::format("{} has no {}", library->path(), find.missing()));
  }
  driver.path = library->path();
  return driver;
}

DeviceFacts CudaDriver::facts(int index) const {
  DeviceFacts facts;
  int device = 0;
  if (device_get(&device, index) != 0) return facts;
  std::array<char, 256> name{};
  if (device_name(name.data(), static_cast<int>(name.size()) - 1, device) == 0) {
    facts.name = name.data();
  }
  std::size_t bytes = 0;
  if (device_memory(&bytes, device) == 0) facts.memory_bytes = static_cast<std::int64_t>(bytes);
  const auto attribute = [&](int which) {
    int value = 0;
    return device_attribute(&value, which, device) == 0 ? value : 0;
  };
  facts.multiprocessors = attribute(kMultiprocessors);
  facts.compute_major = attribute(kComputeMajor);
  facts.compute_minor = attribute(kComputeMinor);
  return facts;
}

CudaTrouble trouble_of(int error) {
  switch (error) {
    case 100:
      return {"the driver is there but shows this process no device",
              "look at CUDA_VISIBLE_DEVICES; in a container start it with --gpus all; under Slurm "
              "ask for a GPU (--gres=gpu:1)"};
    case 802:
      return {"devices with NVSwitch wait for their fabric manager",
              "systemctl start nvidia-fabricmanager, of the driver's version"};
    case 803:
      return {"the driver's library and its kernel module have different versions",
              "load the new module, usually by a restart of the machine"};
    case 804:
      return {"the compatibility library in front of the driver does not fit this device",
              "take the cuda-compat folder out of LD_LIBRARY_PATH"};
    case 46:
      return {"another process has the device for itself",
              "nvidia-smi -c DEFAULT, or wait for the other job"};
    case 999:
      return {"the driver fails for a reason it does not tell, often after the machine slept",
              "dmesg | grep -i nvrm says more; loading nvidia_uvm again or a restart helps"};
    default:
      return {"the driver cannot be used", "dmesg | grep -i nvrm says more"};
  }
}

base::Result<Nvml> Nvml::open(const Place& place) {
  std::string why_not;
  const auto library = Library::open(place, kNvmlNames, why_not);
  if (!library) return fail(Code::kNotFound, why_not);
  Nvml nvml;
  Finder find(*library);
  find(nvml.init, "nvmlInit_v2");
  find(nvml.driver_version, "nvmlSystemGetDriverVersion");
  find(nvml.device_count, "nvmlDeviceGetCount_v2");
  find(nvml.device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  find(nvml.link_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  find(nvml.link_width, "nvmlDeviceGetMaxPcieLinkWidth");
  if (!find.missing().empty()) {
    return fail(Code::kUnsupported, fmt::format("{} has no {}", library->path(), find.missing()));
  }
  return nvml;
}

std::optional<double> link_rate(const Nvml& nvml, const std::string& bus_id) {
  void* device = nullptr;
  unsigned generation = 0;
  unsigned width = 0;
  if (nvml.init() != 0 || nvml.device_by_bus_id(bus_id.c_str(), &device) != 0 ||
      nvml.link_generation(device, &generation) != 0 || nvml.link_width(device, &width) != 0) {
    return std::nullopt;
  }
  return link_rate(generation, width);
}

std::optional<double> link_rate(unsigned generation, unsigned width) {
  // A lane's GB/s by generation: 8b/10b, then 128b/130b, then flits.
  constexpr std::array<double, 7> kLane = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (generation == 0 || generation >= kLane.size() || width == 0 || width > 32) {
    return std::nullopt;
  }
  return kLane[generation] * width;
}

using base::Code;
using base::fail;

base::Result<Device> Device::open(const Place& place) {
  Device device;
  auto driver = CudaDriver::open(place);
  if (!driver) return fail(Code::kNotFound, "no CUDA driver");
  device.driver_ = *driver;
  if (const int error = driver->init(0); error != 0) {
    return fail(Code::kNotFound, fmt::format("cuInit gives error {}", error));
  }
  int count = 0;
  if (driver->device_count(&count) != 0 || count == 0) return fail(Code::kNotFound, "no device");
  device.facts_ = driver->facts(0);
  void* context = nullptr;
  if (driver->device_get(&device.number_, 0) != 0 ||
      driver->context_retain(&context, device.number_) != 0 || driver->context_set(context) != 0) {
    return fail(Code::kIo, "the device gives no context; another process may have it for itself");
  }
  if (driver->event_create(&device.begin_, 0) != 0 || driver->event_create(&device.end_, 0) != 0) {
    return failed("cuEventCreate");
  }
  return device;
}

std::string Device::bus_id() const {
  std::array<char, 64> text{};
  if (driver_.device_bus_id(text.data(), static_cast<int>(text.size()) - 1, number_) != 0)
    return {};
  return text.data();
}

std::size_t Device::free_bytes() const {
  std::size_t free = 0;
  std::size_t all = 0;
  return driver_.memory_info(&free, &all) == 0 ? free : 0;
}

base::Result<CudaPointer> Device::allocate(std::size_t bytes) const {
  CudaPointer address = 0;
  if (driver_.allocate(&address, bytes) != 0) {
    return fail(Code::kLimit, fmt::format("the device has no {} left", size_text(bytes)));
  }
  return address;
}

base::Failure Device::failed(const char* what) {
  return fail(Code::kIo, fmt::format("{} failed on the device", what));
}

}  // namespace stepscope::doctor
