#include "advice/gloo_time.h"

namespace stepscope::advice {

bool is_gloo(const Line& line) { return line.text("collective").starts_with("gloo:"); }

double exposed_gloo_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("overlap", "host", rank.rank)) {
    if (is_gloo(line)) sum += line.number("exposed_ns") / static_cast<double>(rank.steps);
  }
  return sum;
}

}  // namespace stepscope::advice
