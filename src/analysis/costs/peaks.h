// What a device can do at best: arithmetic per second by type, without sparsity, and memory
// traffic. Sources and the traps in them: docs/metrics/peaks.md. What the user says goes before the
// table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/header.h"

namespace stepscope::analysis {

// What arithmetic is done in. "Tensor" is the matrix units' rate where it differs.
enum class Arithmetic : std::uint8_t {
  kFp64,
  kFp64Tensor,
  kFp32,
  kFp32Tensor,
  kTf32,
  kFp16,
  kBf16,
  kFp8,
  kInt8,
  kFp4,
  kCount
};
inline constexpr std::size_t kArithmetics = static_cast<std::size_t>(Arithmetic::kCount);
std::string_view name_of(Arithmetic arithmetic);  // "bf16", "fp64_tensor"
std::optional<Arithmetic> arithmetic_named(std::string_view name);

struct Peaks {
  std::string name;                             // "H100 SXM", or as the user names it
  std::array<double, kArithmetics> flops = {};  // per second; 0: not known
  double bytes_per_second = 0;                  // of the device's own memory; 0: not known

  // Of the matrix units for this type, or of the ordinary ones where there are none; 0: not known.
  double matrix_flops(Arithmetic arithmetic) const;
  double operator[](Arithmetic arithmetic) const {
    return flops[static_cast<std::size_t>(arithmetic)];
  }
};

// What the user knows better: a device whose name in the trace contains `match`. What he does not
// say (0) is the table's.
struct OwnPeaks {
  std::string match;
  Peaks peaks;
};

struct FoundPeaks {
  std::optional<Peaks> peaks;
  std::string why_not;  // a sentence's end: "is not in the table"
};

// Of a device by its properties in the trace. A part of a device (MIG, partitions) has none.
FoundPeaks find_peaks(const trace::DeviceProperties& device, std::span<const OwnPeaks> own);

}  // namespace stepscope::analysis
