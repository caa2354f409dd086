// Opening a run while Python stays responsive: another thread reads, this one looks after Ctrl-C
// and progress.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "python/recording.h"

namespace stepscope::python {

struct OpenArguments {
  std::vector<std::string> paths;
  unsigned jobs = 0;                   // 0: what this process may use
  std::uint64_t max_memory_bytes = 0;  // 0: what the machine has
  std::string steps;                   // a pattern for the names of steps
  std::string peaks;                   // a file of peaks, or empty
};

// `progress(bytes_done, bytes_total)` or None. Called with Python's lock held.
std::unique_ptr<OpenRun> open_run(const OpenArguments& arguments, const nanobind::object& progress);

}  // namespace stepscope::python
