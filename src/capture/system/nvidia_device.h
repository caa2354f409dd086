// One NVIDIA GPU. What it tells is asked for in groups, each at a pace of its own. A call that it
// does not support is not made again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "capture/system/gpu_series.h"
#include "capture/system/job.h"
#include "capture/system/nvml.h"

namespace stepscope::capture {

class NvidiaDevice {
 public:
  NvidiaDevice(const Nvml& nvml, NvmlDevice device, std::string label, std::string uuid,
               std::string model)
      : nvml_(nvml),
        device_(device),
        series_(std::move(label), std::move(uuid), std::move(model)) {}

  // Power, memory, load, clocks: microseconds.
  void sample(Samples& samples);
  // Traffic of its links, and the temperature of its memory.
  void sample_links(Samples& samples);
  // Its counter of energy, which holds the caller up for milliseconds (3 in the median on an H200):
  // every few seconds, and `now`. Between two values of it power tells when energy was used.
  void sample_energy(Samples& samples, bool now);
  // Which of the job's processes have it open.
  void sample_processes(Samples& samples, const Job& job);

  GpuSeries& series() { return series_; }
  NvmlDevice handle() const { return device_; }

 private:
  // Whether the call gave a value. What is not supported is remembered by its name.
  template <class Function, class... Arguments>
  bool ask(Samples& samples, Function* function, std::string_view name, Arguments... arguments);
  std::optional<std::int64_t> power_now(Samples& samples);
  void take_memory(Samples& samples);
  void take_power(Samples& samples);
  void take_state(Samples& samples);

  const Nvml& nvml_;
  NvmlDevice device_;
  GpuSeries series_;
  std::set<std::string, std::less<>> unsupported_;
  bool gone_ = false;
  enum class PowerReading : std::uint8_t { kNotKnown, kInstant, kUsage };
  PowerReading power_reading_ = PowerReading::kNotKnown;
  std::int64_t next_energy_ns_ = 0;
  struct Wrapping {
    std::int64_t last = 0, before = 0;
  };
  std::array<Wrapping, 2> pcie_{};
};

}  // namespace stepscope::capture
