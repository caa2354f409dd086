#include "advice/held_memory.h"

#include <algorithm>

#include "advice/line.h"

namespace stepscope::advice {

std::optional<double> held_memory(const Facts& facts, std::int32_t rank) {
  std::optional<double> most;
  for (const Line& line : facts.lines("overview", "devices", rank)) {
    if (!line.has("peak_reserved_share")) return std::nullopt;
    most = std::max(most.value_or(0), line.number("peak_reserved_share"));
  }
  return most;
}

}  // namespace stepscope::advice
