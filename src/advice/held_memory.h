#pragma once

#include <cstdint>
#include <optional>

#include "advice/facts.h"

namespace stepscope::advice {

// How full the fullest of a rank's GPUs was at the peak; nothing where one of them did not record
// it: that may be the full one.
std::optional<double> held_memory(const Facts& facts, std::int32_t rank);

}  // namespace stepscope::advice
