// Selecting by a mask (x[mask], nonzero): besides waiting for the GPU it launches a row of small
// kernels, forwards and backwards, that are gone with it.
#pragma once

#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

// Operators whose result has a size that only the GPU knows.
bool selects_by_mask(std::string_view op);

// Whether the worst place where the host waits for the GPU is one of them.
bool waits_for_selections(const Facts& facts, const RankSteps& rank);

// GPU idle while the host launches their work, per step: of the worst places that are known.
double launching_of_selections_ns(const Facts& facts, const RankSteps& rank);

}  // namespace stepscope::advice
