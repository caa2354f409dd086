// Means of what tables tell, and how well few values tell them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

// Of the rows of a rank that have a value there; nothing: none has.
std::optional<double> mean_of(const Facts& facts, std::string_view analysis, std::string_view table,
                              std::int32_t rank, std::string_view column);

// Of values that have nothing to do with each other, two or more. What steps that follow each other
// have in common is for comparisons of runs: here it would call every short recording too short.
struct Sample {
  double count = 0, mean = 0, variance = 0;
  double variance_of_mean() const { return variance / count; }
};
Sample sample_of(std::span<const double> values);

}  // namespace stepscope::advice
