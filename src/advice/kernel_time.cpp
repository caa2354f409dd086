#include "advice/kernel_time.h"

#include <algorithm>

#include "advice/means.h"

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

double idle_of(const Facts& facts, const RankSteps& rank, std::string_view column) {
  return mean_of(facts, "idle-time", "devices", rank.rank, column).value_or(0) /
         static_cast<double>(rank.steps);
}

double tried_out_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("autotuning", "ranks", rank.rank)) {
    sum += line.number("device_ns") - line.number("once_ns");
  }
  return sum / static_cast<double>(rank.steps);
}

bool names_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

double named_kernels_ns(const Facts& facts, const RankSteps& rank,
                        std::span<const std::string_view> parts) {
  double sum = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (names_any(line.text("name"), parts)) sum += line.number("sum_ns");
  }
  return sum * kernel_share_of_step(facts, rank);
}

double pauses_between_ns(const Facts& facts, const RankSteps& rank, double kernels) {
  double all = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    all += line.number("count") / static_cast<double>(rank.steps);
  }
  return all > 0 ? idle_of(facts, rank, "kernel_ns") * std::min(1.0, kernels / all) : 0;
}

}  // namespace stepscope::advice
