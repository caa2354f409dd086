// How wide the numbers are that a kernel computes with, as far as its name says. Traces do not
// carry it: templates name their types, libraries have letters for them, many kernels say nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::analysis {

enum class NumberWidth : std::uint8_t {
  kUnsaid,
  kNarrow,  // 16 bits or fewer: half, bfloat16, fp8, int8 of matrix units
  kWide,    // 32 bits or more: float, tf32, double
};

// A kernel that mentions both (a cast, sums in float) is narrow.
NumberWidth number_width(std::string_view kernel);

}  // namespace stepscope::analysis
