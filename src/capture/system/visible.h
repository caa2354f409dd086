// Which of a node's devices a process was given, by the variables that CUDA, ROCm and Slurm read.
// Pure, so that every rule can be tested.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/system/job.h"

namespace stepscope::capture {

// As the driver lists it.
struct ListedDevice {
  std::string uuid;         // "GPU-8932f937-…"
  std::int64_t minor = -1;  // of /dev/nvidia3; -1: not known
};

struct GivenDevices {
  std::vector<std::size_t> devices = {};  // indices into the list, in the order of the process
  std::vector<std::string> parts = {};    // MIG instances, by their names
  bool all = false;                       // nothing was said: all that the driver shows
  std::string variable = {};              // that said so
  std::string unknown = {};  // of what it says: the first that the driver does not show

  // The sentence about that, where there is one; `listed`: devices that the driver shows.
  std::string why_not(std::size_t listed) const;
};

GivenDevices nvidia_devices(const Variables& variables, std::span<const ListedDevice> listed);
GivenDevices amd_devices(const Variables& variables, std::span<const ListedDevice> listed);

// "0,2-4" as numbers; what is no number is left out.
std::vector<std::int64_t> numbers_in(std::string_view list);

}  // namespace stepscope::capture
