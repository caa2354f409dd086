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
#include "capture/system/nvml.h"
#include "capture/system/pace.h"
#include "capture/ticks.h"

namespace stepscope::capture {

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
