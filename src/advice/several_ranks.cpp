#include "advice/several_ranks.h"

#include <algorithm>

namespace stepscope::advice {

bool has_several_ranks(const Facts& facts) {
  if (facts.ranks().size() > 1) return true;
  const auto runs = facts.lines("overview", "run");
  return std::ranges::any_of(runs, [](const Line& line) { return line.whole("world_size") > 1; });
}

}  // namespace stepscope::advice
