// How many of the first iterations are no measure of the rest: compiling, filling caches and
// queues. Definition: docs/metrics/throughput.md.
#pragma once

#include <cstddef>
#include <span>

#include "base/units.h"

namespace stepscope::analysis {

// The first so many of the lengths. Where there are too few to tell, or where they never settle, at
// most the very first, if it is far from all others.
std::size_t warm_up(std::span<const base::Nanos> lengths);

}  // namespace stepscope::analysis
