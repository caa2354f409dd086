// The profiler itself slows the host: with Python stacks every call costs, and what looks like slow
// launching may be the recording.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kProfilerOverheadNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 1> kProfilerOverheadReads = {"operators"};

bool has_profiler_overhead_stacks(const Facts& facts) {
  const auto lines = facts.lines("operators", "stacks");
  return std::ranges::any_of(lines, [](const Line& line) { return line.has_value("stack"); });
}

std::vector<Finding> judge_profiler_overhead(const Facts& facts) {
  if (!has_profiler_overhead_stacks(facts)) return {};
  const auto ranks = worst_ranks(facts, kProfilerOverhead.id,
                                 [&](const RankSteps& rank) { return facts.launching_ns(rank); });
  if (ranks.empty()) return {};
  Finding finding = begin_finding(facts, kProfilerOverhead, ranks, 0, 0);
  finding.gain = std::nullopt;
  finding.level = Level::kInfo;
  finding.confidence = Confidence::kMedium;
  finding.title = {"Recording Python's stacks slows the CPU: waits for launches look longer"};
  finding.measured.name = "GPU idle while the CPU launches work, of the step";
  finding.detail = {
      "The profiler notes every Python call (with_stack=True), which costs the CPU time between "
      "launches. {} of each step is waiting for launches here; without stacks it is less. How much "
      "less, only a recording without them can tell.",
      {share(ranks.front().share)}};
  add_places(finding, facts, *ranks.front().rank, "launch");
  finding.changes = {{"Record once more without stacks for times, and keep this one for places.",
                      "torch.profiler.profile(..., with_stack=False)\n"
                      "# then: stepscope diff with-stacks.json without-stacks.json"}};
  finding.verify = "`stepscope diff` of the two recordings shows what the stacks cost.";
  return {finding};
}

}  // namespace

const Rule kProfilerOverhead{
    .id = "profiler-overhead",
    .cause = "recording",
    .asks = "Does the recording itself distort the picture?",
    .needs = kProfilerOverheadNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_profiler_overhead,
    .reads = kProfilerOverheadReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
