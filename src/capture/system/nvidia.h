// The NVIDIA GPUs that were given to the job's processes, through NVML: on threads of their own,
// since a driver answers when it likes. One asks what takes microseconds, the other the counters of
// energy, which take milliseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/system/asking.h"
#include "capture/system/job.h"
#include "capture/system/source.h"

namespace stepscope::capture {

class NvidiaGpus {
 public:
  NvidiaGpus(const SystemPlace& place, std::shared_ptr<const JobBoard> job,
             std::chrono::nanoseconds interval, const std::shared_ptr<SampleBook>& book);

  void start();
  // At every moment of the sampler.
  void look_after(bool is_overdrawn);
  // Asks for the last time; waits a second at most.
  void finish();
  bool has_more() const { return state_.has_more() || energy_.has_more(); }
  void take(std::string& out);

  std::uint64_t values() const { return state_.values() + energy_.values(); }
  std::int64_t cpu_ns() const { return state_.cpu_ns() + energy_.cpu_ns(); }
  // Without that of opening the driver.
  std::int64_t later_cpu_ns() const { return state_.later_cpu_ns() + energy_.later_cpu_ns(); }

 private:
  Asking state_, energy_;
};

}  // namespace stepscope::capture
