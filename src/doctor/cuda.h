// The functions of the CUDA driver and of NVML that the doctor calls, found at run time. Numbers
// and types as NVIDIA's headers have them, which are not needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "doctor/library.h"
#include "doctor/place.h"

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

}  // namespace stepscope::doctor
