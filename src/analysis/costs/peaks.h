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

#include "base/ascii.h"
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

// Which devices the user's own peaks are for.

// For every device, also where the trace does not describe or name it.
inline bool is_for_all(const OwnPeaks& entry) { return entry.match == "*"; }

// Whether an entry is for this device: its name contains `match`, in whatever case.
inline bool fits(const OwnPeaks& entry, const trace::DeviceProperties& device) {
  return is_for_all(entry) ||
         base::lowered(device.name).find(base::lowered(entry.match)) != std::string::npos;
}

// The devices whose peaks are known, as data.

// TFLOP/s without sparsity and GB/s, as the makers publish them; 0: the device has no such units,
// or its maker says nothing.
struct KnownDevice {
  std::string_view name;
  std::string_view match;                  // words that a trace's device name has, all of them
  std::string_view without = {};           // a word it does not have
  std::int64_t multiprocessors = 0;        // of a whole device; 0: not checked
  std::int64_t from_gb = 0, below_gb = 0;  // memory, where only that tells variants apart; 0: any
  double fp64 = 0, fp64_tensor = 0, fp32 = 0, fp32_tensor = 0, tf32 = 0, fp16 = 0, bf16 = 0,
         fp8 = 0, int8 = 0, fp4 = 0;
  double gb_per_second = 0;
};

// Longer names stand before those they contain.
std::span<const KnownDevice> known_devices();

// Devices that call themselves only "AMD Radeon Graphics", or nothing: known by their properties.
struct NamelessDevice {
  std::int64_t compute_major, compute_minor, multiprocessors;
  std::int64_t from_gb, below_gb;
  std::string_view name;  // of the row in known_devices
};
std::span<const NamelessDevice> nameless_devices();

}  // namespace stepscope::analysis
