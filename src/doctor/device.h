// A CUDA device ready for work: the driver opened, its context current, memory at hand. Used in a
// process that ends soon, so nothing is given back.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "doctor/cuda.h"
#include "doctor/place.h"

namespace stepscope::doctor {

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
