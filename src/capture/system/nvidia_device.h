// One NVIDIA GPU. What it tells is asked for in groups, each at a pace of its own; its counter of
// energy apart from the rest. A call that it does not support is not made again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "capture/system/asking.h"
#include "capture/system/gpu_series.h"
#include "capture/system/job.h"
#include "capture/system/pace.h"
#include "capture/ticks.h"

namespace stepscope::capture {

// The driver's management library, opened at run time: the functions that are called, declared
// here, so that nothing of NVIDIA's is needed to build. Those that the library lacks are null.

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

// One device and how it is asked. A value is put at the middle of its call: the driver had it at
// some time within.
class NvidiaHandle {
 public:
  NvidiaHandle(std::shared_ptr<const Nvml> nvml, NvmlDevice device, std::string label)
      : nvml_(std::move(nvml)), device_(device), label_(std::move(label)) {}

  const Nvml& nvml() const { return *nvml_; }
  const std::string& label() const { return label_; }
  bool is_gone() const { return gone_; }
  bool tells(std::string_view name) const { return !gone_ && !unsupported_.contains(name); }
  std::int64_t took_ns() const { return took_ns_; }  // the last call, by the clock

  // Whether the call gave a value. What is not supported is remembered by its name.
  template <class Function, class... Arguments>
  bool ask(Samples& samples, Function* function, std::string_view name, Arguments... arguments) {
    if (gone_ || function == nullptr || unsupported_.contains(name)) return false;
    const std::int64_t began = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t first = ticks();
    const int result = function(device_, arguments...);
    const std::uint64_t last = ticks();
    took_ns_ = clock_ns(CLOCK_MONOTONIC) - began;
    if (result == 0) {
      // Short ones share the moment at which the device's turn began.
      if (took_ns_ > kShortNs) samples.begin_moment(first + (last - first) / 2);
      return true;
    }
    refused(samples, result, name);
    return false;
  }

 private:
  static constexpr std::int64_t kShortNs = 500'000;
  void refused(Samples& samples, int result, std::string_view name);

  std::shared_ptr<const Nvml> nvml_;
  NvmlDevice device_;
  std::string label_;
  std::set<std::string, std::less<>> unsupported_;
  bool gone_ = false;
  std::int64_t took_ns_ = 0;
};

// Power, memory, load, clocks: microseconds. Less often: traffic of its links, and which of the
// job's processes have it open.
class NvidiaDevice final : public Question {
 public:
  NvidiaDevice(NvidiaHandle handle, std::string uuid, std::string model,
               std::shared_ptr<const JobBoard> job)
      : handle_(std::move(handle)),
        series_(handle_.label(), std::move(uuid), std::move(model)),
        job_(std::move(job)) {}

  bool ask(Samples& samples, const AskedAt& at) override;
  std::string asked() const override { return "GPU " + handle_.label(); }

 private:
  std::optional<std::int64_t> power_now(Samples& samples);
  void take_memory(Samples& samples);
  void take_power(Samples& samples);
  void take_state(Samples& samples);
  void take_links(Samples& samples);
  void take_processes(Samples& samples);

  NvidiaHandle handle_;
  GpuSeries series_;
  std::shared_ptr<const JobBoard> job_;
  Pace state_, links_, processes_;
  enum class PowerReading : std::uint8_t { kNotKnown, kInstant, kUsage };
  PowerReading power_reading_ = PowerReading::kNotKnown;
  struct Wrapping {
    std::int64_t last = 0, before = 0;
  };
  std::array<Wrapping, 2> pcie_{};
};

// Its counter of energy, whose answer takes milliseconds (3 in the median on an H200): every few
// seconds and at the end. Between two values of it power tells when energy was used.
class NvidiaEnergy final : public Question {
 public:
  NvidiaEnergy(NvidiaHandle handle, std::string uuid, std::string model)
      : handle_(std::move(handle)), series_(handle_.label(), std::move(uuid), std::move(model)) {}

  bool ask(Samples& samples, const AskedAt& at) override;
  std::string asked() const override { return "The energy counter of GPU " + handle_.label(); }

 private:
  NvidiaHandle handle_;
  GpuSeries series_;
  std::int64_t next_ns_ = 0;
};

}  // namespace stepscope::capture
