// Puts the rows of a track in time order. A file holds a thread's events as a few sorted runs (the
// operators, then the runtime calls, then the Python frames), so merging runs beats sorting.
#pragma once

#include <cstdint>
#include <span>

#include "base/units.h"

namespace stepscope::trace {

// Sorts `start` and `duration` together by start, the longer first, else by present order, and
// writes to place[i] where the i-th went (counted from 0).
void order_rows(std::span<base::Nanos> start, std::span<base::Nanos> duration,
                std::span<std::uint32_t> place);

}  // namespace stepscope::trace
