// Each call that launches a kernel returns when the kernel has ended, as CUDA_LAUNCH_BLOCKING=1
// makes it: nothing is prepared while the GPU works.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/host_tasks.h"
#include "advice/rule.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kBlockingLaunchesNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 1> kBlockingLaunchesReads = {"host-work"};
// A call that waits for its kernel is no slow launch.
constexpr std::array<std::string_view, 1> kBlockingLaunchesExplains = {"launch-bound"};

struct HeldLaunches {
  double all = 0, held = 0;  // in the recording
};

HeldLaunches held_launches(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("host-work", "signs", rank.rank)) {
    return {line.number("long_launches"), line.number("held_launches")};
  }
  return {};
}

bool are_held(const Facts& facts, const RankSteps& rank) {
  const HeldLaunches launches = held_launches(facts, rank);
  return launches.all >= facts.threshold(kBlockingLaunches.id, "launches") &&
         launches.held >= facts.threshold(kBlockingLaunches.id, "held") * launches.all;
}

std::vector<Finding> judge_blocking_launches(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kBlockingLaunches.id, [&](const RankSteps& rank) {
    return are_held(facts, rank) ? facts.launching_ns(rank) : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const HeldLaunches launches = held_launches(facts, rank);
  const auto steps = static_cast<double>(rank.steps);
  // Side by side the longer of both is left: the GPU's work, or launching it.
  const double launching = facts.launching_ns(rank);
  const double both = std::min(launching, std::max(0.0, rank.step_ns - launching));
  Finding finding = begin_finding(facts, kBlockingLaunches, ranks, (1 - 2 * kHostVaries) * both,
                                  (1 + kHostVaries) * both);
  finding.title = {
      "Each launch waits for its kernel to end, so that the GPU waits for the next: {} "
      "of each step",
      {share(ranks.front().share)}};
  finding.measured.name = "GPU idle while the CPU launches work, one after the other, of the step";
  finding.detail = {
      "Of {} calls per step that launch a kernel of 10 µs or more, {} returned only after it had "
      "ended. CUDA_LAUNCH_BLOCKING=1 (on AMD GPUs AMD_SERIALIZE_KERNEL=3) does that: it is for "
      "finding the kernel that fails. Without it the CPU prepares the next work while the GPU "
      "still computes.",
      {count(launches.all / steps), count(launches.held / steps)}};
  finding.about_gain = {
      " Side by side a step takes as long as the longer of the two: {} of waiting for launches, {} "
      "of the rest. The bounds leave room for what recording adds to launching.",
      {nanos(launching), nanos(rank.step_ns - launching)}};
  add_places(finding, facts, rank, "launch");
  finding.changes = {
      {"Leave the variable out of the environment: look into the job's script, the image and the "
       "program.",
       "unset CUDA_LAUNCH_BLOCKING  # and no os.environ[\"CUDA_LAUNCH_BLOCKING\"] = \"1\""}};
  finding.verify =
      "Record again: `stepscope analyze host-work --table signs new.json` shows few held_launches.";
  return {finding};
}

}  // namespace

const Rule kBlockingLaunches{
    .id = "blocking-launches",
    .cause = "blocking",
    .asks = "Does each launch wait until its kernel has ended?",
    .needs = kBlockingLaunchesNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_blocking_launches,
    .reads = kBlockingLaunchesReads,
    .runs_dry = false,
    .says_bounds = true,
    .explains = kBlockingLaunchesExplains,
};

}  // namespace stepscope::advice
