// The occupancy of a kernel where the profiler knows it. Kineto writes 0 where it cannot tell,
// above all of kernels that use more than 48 KB of shared memory (cuBLAS' and cuDNN's for Hopper
// do).
#pragma once

#include <cstdint>
#include <limits>

#include "trace/tables.h"

namespace stepscope::analysis {

// In per cent; NaN: not known. A kernel with a warp on each multiprocessor fills at least a
// hundredth of what one can hold (64 warps at most), so its 0 is no number.
inline float known_occupancy(const trace::KernelTable& kernels, std::uint32_t entry) {
  const float percent = kernels.occupancy_percent[entry];
  const bool is_untold = percent == 0 && kernels.warps_per_sm[entry] >= 1;
  return percent < 0 || is_untold ? std::numeric_limits<float>::quiet_NaN() : percent;
}

}  // namespace stepscope::analysis
