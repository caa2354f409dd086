// Shares out time among roles that overlap, by priority: a moment goes to the first role that is
// on. Parts and the rest add up to the whole exactly.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {

// For each stretch of time one length per role, in the order of the roles, then the rest. Stretches
// do not overlap, so that all of it is one pass per role.
std::vector<std::vector<base::Nanos>> share_out(
    std::span<const std::span<const Interval>> by_priority, std::span<const Interval> stretches);

// How wide the numbers are that a kernel computes with, as far as its name says. Traces do not
// carry it: templates name their types, libraries have letters for them, many kernels say nothing.

enum class NumberWidth : std::uint8_t {
  kUnsaid,
  kNarrow,  // 16 bits or fewer: half, bfloat16, fp8, int8 of matrix units
  kWide,    // 32 bits or more: float, tf32, double
};

// A kernel that mentions both (a cast, sums in float) is narrow.
NumberWidth number_width(std::string_view kernel);

}  // namespace stepscope::analysis
