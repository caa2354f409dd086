#include "advice/kernel_time.h"

#include <algorithm>

namespace stepscope::advice {

// A GPU that is behind its host also runs kernels of steps before the first: what all of them take
// together is more than the steps have room for.
double kernel_share_of_step(const Facts& facts, const RankSteps& rank) {
  double all = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    all += line.number("sum_ns");
  }
  for (const Line& line : facts.lines("steps", "parts", rank.rank)) {
    if (line.text("part") != "kernel" || !(all > 0)) continue;
    return std::min(1 / static_cast<double>(rank.steps), line.number("mean_ns") / all);
  }
  return 1 / static_cast<double>(rank.steps);
}

double pauses_between_ns(const Facts& facts, const RankSteps& rank, double kernels) {
  const auto steps = static_cast<double>(rank.steps);
  double all = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    all += line.number("count") / steps;
  }
  double pauses = 0;
  double devices = 0;
  for (const Line& line : facts.lines("idle-time", "devices", rank.rank)) {
    pauses += line.number("kernel_ns") / steps;
    ++devices;
  }
  return all > 0 && devices > 0 ? pauses / devices * std::min(1.0, kernels / all) : 0;
}

}  // namespace stepscope::advice
