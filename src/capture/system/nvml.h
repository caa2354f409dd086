// The driver's management library, opened at run time: the functions that are called, declared
// here, so that nothing of NVIDIA's is needed to build. Those that the library lacks are null.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope::capture {

using NvmlDevice = void*;

// What calls return; 0 is success.
inline constexpr int kNvmlNotSupported = 3;
inline constexpr int kNvmlNoPermission = 4;
inline constexpr int kNvmlTooSmall = 7;
inline constexpr int kNvmlGpuIsLost = 15;

struct NvmlUtilization {
  unsigned gpu, memory;  // percent
};
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlMemory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
union NvmlValue {
  double real;
  int signed_int;
  unsigned unsigned_int;
  unsigned long unsigned_long;
  unsigned long long unsigned_long_long;
  long long signed_long_long;
  unsigned short unsigned_short;
};
struct NvmlField {
  unsigned id, scope;
  long long timestamp_us, latency_us;
  int type;
  int result;
  NvmlValue value;

  // Of any type; nothing where it could not be had.
  std::optional<std::int64_t> whole() const;
  bool is_32_bit() const { return type == 1 || type == 5; }
};

struct Nvml {
  int (*init)();
  int (*shutdown)();
  int (*device_count)(unsigned* count);
  int (*device_by_index)(unsigned index, NvmlDevice* device);
  int (*device_by_uuid)(const char* uuid, NvmlDevice* device);
  int (*parent_of_part)(NvmlDevice part, NvmlDevice* device);
  int (*uuid)(NvmlDevice device, char* text, unsigned size);
  int (*name)(NvmlDevice device, char* text, unsigned size);
  int (*minor_number)(NvmlDevice device, unsigned* number);
  int (*utilization)(NvmlDevice device, NvmlUtilization* rates);
  int (*memory)(NvmlDevice device, NvmlMemory* memory);
  int (*memory2)(NvmlDevice device, NvmlMemory2* memory);
  int (*power)(NvmlDevice device, unsigned* milliwatts);
  int (*power_limit)(NvmlDevice device, unsigned* milliwatts);
  int (*energy)(NvmlDevice device, unsigned long long* millijoules);
  int (*clock)(NvmlDevice device, int which, unsigned* mhz);
  int (*temperature)(NvmlDevice device, int sensor, unsigned* celsius);
  int (*clock_reasons)(NvmlDevice device, unsigned long long* reasons);
  int (*fields)(NvmlDevice device, int count, NvmlField* fields);
  int (*compute_processes)(NvmlDevice device, unsigned* count, NvmlProcess* processes);

  // Opened and initialised; else nothing, and a sentence why not. Never closed: drivers do not take
  // it well.
  static std::optional<Nvml> open(const std::string& library, std::string& why_not);
};

}  // namespace stepscope::capture
