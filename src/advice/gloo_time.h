// Time in which gloo communicates and no GPU of the rank computes: gloo-on-gpu judges it, and
// gpu-idle leaves it to that rule.
#pragma once

#include "advice/facts.h"

namespace stepscope::advice {

bool is_gloo(const Line& line);

// Per step.
double exposed_gloo_ns(const Facts& facts, const RankSteps& rank);

}  // namespace stepscope::advice
