// Calls of the driver that keep a GPU waiting, by name: what takes memory, loads code, makes
// streams and events, and launches that did not return.
#pragma once

#include <string>
#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

// Calls of one sort, per step.
struct DriverCalls {
  double count = 0, host_ns = 0, runs = 0, idle_ns = 0;
  std::string most;  // the one with most waits, else with most time

  bool empty() const { return count <= 0 && idle_ns <= 0; }
};

// Of a stall (allocator, driver), those whose names `wanted` takes.
DriverCalls driver_calls(const Facts& facts, const RankSteps& rank, std::string_view stall,
                         bool (*wanted)(std::string_view call));
bool pins_memory(std::string_view call);       // takes or returns pinned memory
bool takes_gpu_memory(std::string_view call);  // of the device
bool returns_gpu_memory(std::string_view call);
bool launches_work(std::string_view call);

// Of the waits of a stall, per step and device: the launch of the next work did not return; of
// those, before work that ran for the first time.
struct HeldLaunches {
  double held_ns = 0, first_use_ns = 0;
};
HeldLaunches held_launches(const Facts& facts, const RankSteps& rank, std::string_view stall);

// Whether a stall is in enough of the steps after the first, which may warm up: at least this share
// of them. `column`: of the table of steps, above 0 where the stall is.
bool goes_on(const Facts& facts, const RankSteps& rank, std::string_view stall,
             std::string_view column, double least_share);

// Whether the calls of the recording are HIP's.
bool is_rocm(const Facts& facts);

}  // namespace stepscope::advice
