// What one run has to say about a quantity that every step has: the numbers of its steps, in order.
// Which of them are warm-up, what is typical of the rest, and how well that is known.
// Definitions: docs/metrics/comparing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stepscope::analysis {

// How many steps at the beginning are not like the others. At most a third of them.
std::size_t warmup_steps(std::span<const double> steps);

// Which steps make the typical one: their places, those of the middle half by value.
std::vector<std::size_t> middle_half(std::span<const double> steps);

// Of an even number the middle between the two in the middle. Not of none.
double median_of(std::vector<double> values);

enum class Average : std::uint8_t {
  kTypical,  // the mean of the middle half: stragglers do not move it
  kMean,     // of all of them: what throughput is made of
};

struct Estimate {
  double value = 0;
  double variance = 0;    // of `value`; steps that follow each other are not independent
  std::size_t steps = 0;  // that it is made of: settled ones
  // So many independent steps would tell the variance as well; nothing: as many as there are.
  std::optional<double> worth = std::nullopt;

  double worth_steps() const { return worth.value_or(static_cast<double>(steps)); }
};
// The variance is that of blocks of steps drawn anew, always the same ones, and of what steps have
// in common beyond a block. Of one step it is 0.
Estimate estimate(std::span<const double> settled, Average average);

// How much of its distance from the average a step hands on to the next one, 0 to 1, and not less
// than it may well be. Fewer than ten steps do not show it: what recorded runs show.
double handed_on(std::span<const double> settled, Average average);

}  // namespace stepscope::analysis
