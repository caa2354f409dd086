// The functions of the CUDA driver and of NVML that the doctor calls, found at run time. Numbers
// and types as NVIDIA's headers have them, which are not needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "doctor/check.h"
#include "doctor/library.h"

namespace stepscope::doctor {

using CudaPointer = unsigned long long;

struct CudaDriver {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_attribute)(int*, int, int) = nullptr;
  int (*device_memory)(std::size_t*, int) = nullptr;
  int (*device_bus_id)(char*, int, int) = nullptr;
  int (*context_retain)(void**, int) = nullptr;
  int (*context_set)(void*) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*memory_info)(std::size_t*, std::size_t*) = nullptr;
  int (*allocate)(CudaPointer*, std::size_t) = nullptr;
  int (*allocate_host)(void**, std::size_t) = nullptr;
  int (*copy_to_device)(CudaPointer, const void*, std::size_t) = nullptr;
  int (*copy_to_device_async)(CudaPointer, const void*, std::size_t, void*) = nullptr;
  int (*event_create)(void**, unsigned) = nullptr;
  int (*event_record)(void*, void*) = nullptr;
  int (*event_synchronize)(void*) = nullptr;
  int (*event_elapsed)(float*, void*, void*) = nullptr;

  std::string path;

  // The library with every function of it; what is missing otherwise.
  static base::Result<CudaDriver> open(const Place& place);
  // Of device `index`; zeros where the driver does not say.
  DeviceFacts facts(int index) const;
};

// What an error of cuInit means and what helps against it.
struct CudaTrouble {
  std::string means, todo;
};
CudaTrouble trouble_of(int error);

struct Nvml {
  int (*init)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_bus_id)(const char*, void**) = nullptr;
  int (*link_generation)(void*, unsigned*) = nullptr;
  int (*link_width)(void*, unsigned*) = nullptr;

  static base::Result<Nvml> open(const Place& place);
};

// GB/s that the link of this device can carry in one direction, after encoding.
std::optional<double> link_rate(const Nvml& nvml, const std::string& bus_id);
std::optional<double> link_rate(unsigned generation, unsigned width);

// A CUDA device ready for work: the driver opened, its context current, memory at hand. Used in a
// process that ends soon, so nothing is given back.

class Device {
 public:
  // The first device that is visible; kNotFound where there is no driver or no device.
  static base::Result<Device> open(const Place& place);

  const CudaDriver& driver() const { return driver_; }
  const DeviceFacts& facts() const { return facts_; }
  std::string bus_id() const;
  std::size_t free_bytes() const;
  base::Result<CudaPointer> allocate(std::size_t bytes) const;

  // Seconds of device time that `work` takes on the default stream.
  template <class Work>
  base::Result<double> seconds_of(const Work& work) const {
    if (driver_.event_record(begin_, nullptr) != 0) return failed("cuEventRecord");
    if (!work()) return failed("the work");
    float ms = 0;
    if (driver_.event_record(end_, nullptr) != 0 || driver_.event_synchronize(end_) != 0 ||
        driver_.event_elapsed(&ms, begin_, end_) != 0) {
      return failed("cuEventElapsedTime");
    }
    return static_cast<double>(ms) / 1000;
  }

 private:
  static base::Failure failed(const char* what);

  CudaDriver driver_;
  DeviceFacts facts_;
  int number_ = 0;
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

}  // namespace stepscope::doctor
