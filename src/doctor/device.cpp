#include "doctor/device.h"

#include <array>

#include <fmt/format.h>

#include "doctor/check.h"

namespace stepscope::doctor {

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
