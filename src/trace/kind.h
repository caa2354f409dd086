// What an event is, decided by its category first and by its name only where the category does not
// say. Analyses ask for kinds; nothing downstream compares category strings.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace stepscope::trace {

enum class Kind : std::uint8_t {
  kOther,       // anything a tool we do not know wrote
  kCpuOp,       // an operator on the host
  kAnnotation,  // record_function, ProfilerStep#N: a span the user or framework named
  kPython,      // a Python call
  kRuntime,     // a call into the CUDA, HIP, XPU or MTIA runtime
  kDriver,      // a call into the driver
  kKernel,      // work on a device
  kMemcpy,
  kMemset,
  kGpuAnnotation,  // the device-side shadow of an annotation: not work, not a step
  kSync,           // a wait the profiler reports (cuda_sync): not work
  kDeviceMarker,   // a CUDA event record and its like: an instant on a stream
  kOverhead,       // the profiler's own cost
  kMemory,         // an allocation or a free: the "[memory]" instants
  kCounter,
  kProfiler,       // the recording's own span and its start and end marks
  kCollective,     // collective_comm: a communication reported without a kernel
  kProfilerRange,  // CUPTI range-profiler results
  kCount
};

// The stable name used in output: "cpu_op", "annotation", …
std::string_view name_of(Kind kind);

// Which events run on a device's stream and keep it busy.
constexpr bool is_device_work(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemcpy || kind == Kind::kMemset;
}
// Which events sit on a device's stream, busy or not.
inline constexpr std::array kOnDevice = {Kind::kKernel,        Kind::kMemcpy, Kind::kMemset,
                                         Kind::kGpuAnnotation, Kind::kSync,   Kind::kDeviceMarker};
constexpr bool is_on_device(Kind kind) {
  return std::find(kOnDevice.begin(), kOnDevice.end(), kind) != kOnDevice.end();
}
constexpr bool is_api_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

// `name` decides only inside categories that hold several kinds, and for old files without any.
Kind kind_of(std::string_view category, std::string_view name);
// kOther: the name decides, or nothing does.
Kind kind_by_category(std::string_view category);

// Ascend's device work has no category: its tasks say their type ("AI_CORE", "EVENT_WAIT_SQE"),
// and collectives are called "hcom_allReduce__680_0_1".
Kind kind_of_task(std::string_view task_type);
bool names_ascend_collective(std::string_view name);

}  // namespace stepscope::trace
