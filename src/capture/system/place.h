// Where the sampler looks. Tests give it folders and a library of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace stepscope::capture {

struct SystemPlace {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string nvml = "libnvidia-ml.so.1";
  // Processor time of another process in nanoseconds; nothing where it is gone.
  std::function<std::optional<std::int64_t>(int pid)> process_cpu_ns = {};
};

}  // namespace stepscope::capture
