// Shares out time among roles that overlap, by priority: a moment goes to the first role that is
// on. Parts and the rest add up to the whole exactly.
#pragma once

#include <span>
#include <vector>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {

// For each stretch of time one length per role, in the order of the roles, then the rest. Stretches
// do not overlap, so that all of it is one pass per role.
std::vector<std::vector<base::Nanos>> share_out(
    std::span<const std::span<const Interval>> by_priority, std::span<const Interval> stretches);

}  // namespace stepscope::analysis
