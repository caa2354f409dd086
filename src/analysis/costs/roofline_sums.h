// What rows of a roofline add up: time taken, work done, and the time it would take at the roof.
#pragma once

#include <cstdint>

#include "analysis/costs/call_costs.h"
#include "base/table.h"

namespace stepscope::analysis {

struct RoofSums {
  std::uint64_t calls = 0;
  base::Nanos device_ns = 0;
  Amount flops = 0, bytes = 0;
  // Time all of it would take at the device's peaks; unknown peaks make them unknown.
  double compute_ns = 0, memory_ns = 0, roof_ns = 0;
  bool has_compute = true, has_memory = true;

  void add(const Cost& cost, base::Nanos taken, double peak_flops, double peak_bytes);
  void add_unknown(base::Nanos taken);
  void merge(const RoofSums& other);
};

enum class Bound : std::uint8_t { kCompute, kMemory, kLatency };
std::string_view name_of(Bound bound);

// What a row says about its sums; null where it is not known.
struct RoofCells {
  base::Cell flops = base::Null{}, bytes = base::Null{}, intensity = base::Null{};
  base::Cell tflops = base::Null{}, bandwidth = base::Null{};
  base::Cell peak_share = base::Null{}, bandwidth_share = base::Null{};
  base::Cell bound = base::Null{}, roof_ns = base::Null{}, lost_ns = base::Null{};
};
// Calls shorter than `latency` on average that stay below a tenth of both roofs are too short.
RoofCells roof_cells(const RoofSums& sums, base::Nanos latency);

}  // namespace stepscope::analysis
