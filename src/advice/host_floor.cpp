#include "advice/host_floor.h"

#include <algorithm>

#include "advice/means.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

// A launch takes so long at most; what all of them take beyond is waiting for room in the queue.
constexpr double kLaunch = 10'000;

double waits_for_room_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    sum += std::max(0.0, line.number("cost_ns") - kLaunch * line.number("calls"));
  }
  return sum / static_cast<double>(rank.steps);
}

}  // namespace

double host_floor_ns(const Facts& facts, const RankSteps& rank) {
  const auto host = mean_of(facts, "steps", "steps", rank.rank, "host_ns");
  if (!host) return 0;
  double busy = *host - waits_for_room_ns(facts, rank);
  for (const std::string_view sort : {"sync", "upload", "save"}) {
    busy -= facts.stall(rank, sort).host_ns;
  }
  return std::max(0.0, busy * (1 - kTracingLeast));
}

double let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns) {
  return std::max(0.0, std::min(gain_ns, rank.step_ns - host_floor_ns(facts, rank)));
}

void say_what_host_lets_through(Finding& finding, const Facts& facts, const RankSteps& rank,
                                double gain_ns) {
  if (let_through_ns(facts, rank, gain_ns) >= gain_ns) return;
  finding.about_gain.form +=
      " The smaller figure leaves the step as long as the CPU is busy for it, {}: a GPU that is "
      "done sooner waits for the CPU.";
  finding.about_gain.figures.push_back(nanos(host_floor_ns(facts, rank)));
}

}  // namespace stepscope::advice
