// What of the kernels' time is a step's.
#pragma once

#include <cstdint>
#include <optional>
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

// In a step: short pauses of the GPU with work in its queue, or whose launch had been called. The
// moment that it takes to begin what came late is none of them: it goes where launches do.
double short_pauses_ns(const Facts& facts, const RankSteps& rank);
// In a step: their part of the short pauses between kernels that were queued already.
double pauses_between_ns(const Facts& facts, const RankSteps& rank, double kernels);

// Means of what tables tell, and how well few values tell them.

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

// Time in which gloo communicates and no GPU of the rank computes: gloo-on-gpu judges it, and
// gpu-idle leaves it to that rule.

bool is_gloo(const Line& line);

// Per step.
double exposed_gloo_ns(const Facts& facts, const RankSteps& rank);

// How full the fullest of a rank's GPUs was at the peak; nothing where one of them did not record
// it: that may be the full one.
std::optional<double> held_memory(const Facts& facts, std::int32_t rank);

// Whether the job has more ranks than one, recorded here or not.

bool has_several_ranks(const Facts& facts);

// Selecting by a mask (x[mask], nonzero): besides waiting for the GPU it launches a row of small
// kernels, forwards and backwards, that are gone with it.

// Operators whose result has a size that only the GPU knows.
bool selects_by_mask(std::string_view op);

// Whether the worst place where the host waits for the GPU is one of them.
bool waits_for_selections(const Facts& facts, const RankSteps& rank);

// GPU idle while the host launches their work, per step: of the worst places that are known.
double launching_of_selections_ns(const Facts& facts, const RankSteps& rank);

// How short a step can become when the GPU's work takes no time: the host still has to start it.

// What the host is busy with in a step, without its waits for the GPU and without what a profiler
// surely adds; 0: not known.
double host_floor_ns(const Facts& facts, const RankSteps& rank);

// Of a gain on the GPU, what the host lets through at least; the finding says where that, or what
// it lets through at most, is less.
double let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns);
// And at most: no step is shorter than the host needs for it, however much of its time recording
// is. The gain itself where stacks were recorded, whose cost is not known.
double most_let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns);
void say_what_host_lets_through(Finding& finding, const Facts& facts, const RankSteps& rank,
                                double low_ns, double high_ns);

}  // namespace stepscope::advice
