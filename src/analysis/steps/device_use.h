// How well a device is used during the steps: time it works, how many of its multiprocessors have
// something to do, how full they are. Sums in integers, so that windows can be added.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analysis/view.h"

namespace stepscope::analysis {

struct DeviceUse {
  base::Nanos stretch = 0;        // from the first to the last step, what lies between included
  base::Nanos kernels = 0;        // a kernel runs
  base::Nanos busy = 0;           // a kernel, a copy or a memset runs
  double filled = 0;              // time × share of the multiprocessors that have a block
  base::Nanos filled_for = 0;     // of kernels that say how many blocks each multiprocessor gets
  double occupancy = 0;           // time × occupancy, 0 to 1
  base::Nanos occupancy_for = 0;  // of kernels that say it
  std::optional<base::Bytes> allocated, reserved;  // the most there ever was

  void merge(const DeviceUse& other);
  // Nothing where the trace does not carry it.
  std::optional<double> kernel_share() const {
    return share(static_cast<double>(kernels), stretch);
  }
  std::optional<double> busy_share() const { return share(static_cast<double>(busy), stretch); }
  std::optional<double> sm_efficiency() const {
    return filled_for > 0 ? share(filled, stretch) : std::nullopt;
  }
  std::optional<double> occupancy_mean() const { return share(occupancy, occupancy_for); }

 private:
  static std::optional<double> share(double part, base::Nanos whole) {
    if (whole <= 0) return std::nullopt;
    return part / static_cast<double>(whole);
  }
};

// By number; also devices that only have memory events.
std::map<std::int32_t, DeviceUse> device_use(const WindowView& window);

}  // namespace stepscope::analysis
