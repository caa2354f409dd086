// The devices whose peaks are known, as data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stepscope::analysis {

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

// Devices that call themselves only "AMD Radeon Graphics", or nothing: told by their properties.
struct NamelessDevice {
  std::int64_t compute_major, compute_minor, multiprocessors;
  std::int64_t from_gb, below_gb;
  std::string_view name;  // of the row in known_devices
};
std::span<const NamelessDevice> nameless_devices();

}  // namespace stepscope::analysis
