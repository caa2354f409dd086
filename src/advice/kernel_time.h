// What of the kernels' time is a step's.
#pragma once

#include <span>
#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

// Of a step, one ns of the kernels' time.
double kernel_share_of_step(const Facts& facts, const RankSteps& rank);

// Idle time of a step for a cause, a column of idle-time; of several devices the mean.
double idle_of(const Facts& facts, const RankSteps& rank, std::string_view column);

// In a step, on the GPU: what a search for the fastest algorithm tries out, which is gone when the
// search is.
double tried_out_ns(const Facts& facts, const RankSteps& rank);

// Whether a name has one of these parts.
bool names_any(std::string_view name, std::span<const std::string_view> parts);
// In a step: kernels whose names have one of these parts, as far as they are among the longest.
double named_kernels_ns(const Facts& facts, const RankSteps& rank,
                        std::span<const std::string_view> parts);

// In a step: their part of the short pauses between kernels that were queued already.
double pauses_between_ns(const Facts& facts, const RankSteps& rank, double kernels);

}  // namespace stepscope::advice
