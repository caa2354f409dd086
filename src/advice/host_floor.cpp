// How short the host lets a step become when the GPU is faster.
#include <algorithm>
#include <string_view>

#include "advice/step_time.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

// A launch takes so long at most and at least; what all of them take beyond is waiting for room in
// the queue.
constexpr double kLongLaunch = 10'000, kShortLaunch = 2'000;

double waits_for_room_ns(const Facts& facts, const RankSteps& rank, double launch_ns) {
  double sum = 0;
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    sum += std::max(0.0, line.number("cost_ns") - launch_ns * line.number("calls"));
  }
  return sum / static_cast<double>(rank.steps);
}

// In a step of the recording; 0: not known.
double busy_ns(const Facts& facts, const RankSteps& rank, double launch_ns) {
  const auto host = mean_of(facts, "steps", "steps", rank.rank, "host_ns");
  if (!host) return 0;
  double busy = *host - waits_for_room_ns(facts, rank, launch_ns);
  for (const std::string_view sort : {"sync", "upload", "save"}) {
    busy -= facts.stall(rank, sort).host_ns;
  }
  return std::max(0.0, busy);
}

// What of it is left without recording, at the least.
double least_ns(const Facts& facts, const RankSteps& rank) {
  return busy_ns(facts, rank, kShortLaunch) * (1 - kTracingEver);
}

bool has_host_floor_stacks(const Facts& facts) {
  const auto lines = facts.lines("operators", "stacks");
  return std::ranges::any_of(lines, [](const Line& line) { return line.has_value("stack"); });
}

}  // namespace

double host_floor_ns(const Facts& facts, const RankSteps& rank) {
  return busy_ns(facts, rank, kLongLaunch) * (1 - kTracingLeast);
}

double most_let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns) {
  return has_host_floor_stacks(facts)
             ? gain_ns
             : std::min(gain_ns, std::max(0.0, rank.step_ns - least_ns(facts, rank)));
}

double let_through_ns(const Facts& facts, const RankSteps& rank, double gain_ns) {
  return std::max(0.0, std::min(gain_ns, rank.step_ns - host_floor_ns(facts, rank)));
}

void say_what_host_lets_through(Finding& finding, const Facts& facts, const RankSteps& rank,
                                double low_ns, double high_ns) {
  if (let_through_ns(facts, rank, low_ns) >= low_ns) return;
  finding.about_gain.form +=
      " The smaller figure leaves the step as long as the CPU is busy for it, {}: a GPU that is "
      "done sooner waits for the CPU.";
  finding.about_gain.figures.push_back(nanos(host_floor_ns(facts, rank)));
  if (most_let_through_ns(facts, rank, high_ns) >= high_ns) return;
  finding.about_gain.form +=
      " The larger leaves the part of it that is surely not the recording's, {}.";
  finding.about_gain.figures.push_back(nanos(least_ns(facts, rank)));
}

}  // namespace stepscope::advice
