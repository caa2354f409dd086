#include "analysis/costs/roofline_sums.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepscope::analysis {
namespace {

double real_roofline_sums(const Amount& amount) { return static_cast<double>(*amount.value()); }

}  // namespace

void RoofSums::add(const Cost& cost, base::Nanos taken, double peak_flops, double peak_bytes) {
  ++calls;
  device_ns += taken;
  flops += cost.flops;
  bytes += cost.bytes;
  const bool computes = cost.flops.known() && (peak_flops > 0 || *cost.flops.value() == 0);
  const bool moves = cost.bytes.known() && peak_bytes > 0;
  const double at_compute =
      computes && *cost.flops.value() > 0 ? real_roofline_sums(cost.flops) / peak_flops * 1e9 : 0;
  const double at_memory = moves ? real_roofline_sums(cost.bytes) / peak_bytes * 1e9 : 0;
  has_compute = has_compute && computes;
  has_memory = has_memory && moves;
  compute_ns += at_compute;
  memory_ns += at_memory;
  roof_ns += std::max(at_compute, at_memory);
}

void RoofSums::add_unknown(base::Nanos taken) {
  ++calls;
  device_ns += taken;
  flops = bytes = Amount::unknown();
  has_compute = has_memory = false;
}

void RoofSums::merge(const RoofSums& other) {
  calls += other.calls;
  device_ns += other.device_ns;
  flops += other.flops;
  bytes += other.bytes;
  compute_ns += other.compute_ns;
  memory_ns += other.memory_ns;
  roof_ns += other.roof_ns;
  has_compute = has_compute && other.has_compute;
  has_memory = has_memory && other.has_memory;
}

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, 3> kNames = {"compute", "memory", "latency"};
  return kNames[static_cast<std::size_t>(bound)];
}

RoofCells roof_cells(const RoofSums& sums, base::Nanos latency) {
  RoofCells out;
  const auto taken = static_cast<double>(sums.device_ns);
  const bool has_time = sums.device_ns > 0;
  if (sums.flops.known()) {
    out.flops = sums.flops.value();
    if (has_time) out.tflops = real_roofline_sums(sums.flops) / taken / 1e3;
  }
  if (sums.bytes.known()) {
    out.bytes = sums.bytes.value();
    if (has_time) out.bandwidth = real_roofline_sums(sums.bytes) / taken * 1e9;
  }
  if (sums.flops.known() && sums.bytes.known() && *sums.bytes.value() > 0) {
    out.intensity = real_roofline_sums(sums.flops) / real_roofline_sums(sums.bytes);
  }
  if (sums.has_compute && has_time) out.peak_share = sums.compute_ns / taken;
  if (sums.has_memory && has_time) out.bandwidth_share = sums.memory_ns / taken;
  if (!sums.has_compute || !sums.has_memory) return out;
  out.roof_ns = std::llround(sums.roof_ns);
  out.lost_ns = std::max<std::int64_t>(sums.device_ns - std::llround(sums.roof_ns), 0);
  const bool is_short =
      sums.device_ns < latency * static_cast<base::Nanos>(sums.calls) && sums.roof_ns < taken / 10;
  const Bound bound = is_short                            ? Bound::kLatency
                      : sums.compute_ns >= sums.memory_ns ? Bound::kCompute
                                                          : Bound::kMemory;
  out.bound = name_of(bound);
  return out;
}

}  // namespace stepscope::analysis
