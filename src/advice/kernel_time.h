// What of the kernels' time is a step's.
#pragma once

#include "advice/facts.h"

namespace stepscope::advice {

// Of a step, one ns of the kernels' time.
double kernel_share_of_step(const Facts& facts, const RankSteps& rank);

// In a step: their part of the short pauses between kernels that were queued already.
double pauses_between_ns(const Facts& facts, const RankSteps& rank, double kernels);

}  // namespace stepscope::advice
