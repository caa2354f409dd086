// The host needs longer to launch work than the GPU to do it: many short kernels.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "sorts"}, {"launches", "ranks"}});

std::vector<Finding> judge(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kLaunchBound.id,
                                 [&](const RankSteps& rank) { return facts.launching_ns(rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep launch = facts.stall(rank, "launch");
  const StallPerStep optimizer = facts.stall(rank, "optimizer");
  Finding finding =
      begin_finding(facts, kLaunchBound, ranks, kHidden * (launch.inside_ns + optimizer.idle_ns),
                    facts.launching_ns(rank));
  finding.title = {
      "The host launches work more slowly than the GPU does it: the GPU waits {} of "
      "each step",
      {share(ranks.front().share)}};
  finding.measured.name = "GPU idle while the host launches work, of the step";
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    const auto steps = static_cast<double>(rank.steps);
    finding.detail = {
        "A step starts {} pieces of GPU work, {} of them shorter than 10 µs, and each costs the "
        "host time in Python, in the framework and in the driver. While it prepares the next one, "
        "the GPU has nothing to do.",
        {count(line.number("work") / steps), count(line.number("short_kernels") / steps)}};
  }
  add_places(finding, facts, rank, "launch");
  finding.changes = {
      {"Give each kernel more to do: a larger batch costs the host the same.",
       facts.by_framework("loader = DataLoader(dataset, batch_size=4 * batch_size, ...)",
                          "DataLoader(self.dataset, batch_size=4 * batch_size, ...)",
                          "TrainingArguments(..., per_device_train_batch_size=4 * batch_size)")},
      {"Let the compiler fuse small kernels and replay them as CUDA graphs, without Python.",
       facts.by_framework("model = torch.compile(model, mode=\"reduce-overhead\")",
                          "model = torch.compile(model, mode=\"reduce-overhead\")  # before fit()",
                          "TrainingArguments(..., torch_compile=True, "
                          "torch_compile_mode=\"reduce-overhead\")")}};
  finding.verify =
      "Record again: `stepscope analyze stalls` shows less idle time under 'launch' and "
      "'optimizer', which are counted together here, and "
      "`stepscope analyze launches` fewer calls per step.";
  return {finding};
}

}  // namespace

const Rule kLaunchBound{
    .id = "launch-bound",
    .cause = "launch",
    .asks = "Does the GPU wait because launching work takes the host too long?",
    .needs = kNeeds,
    .record = kRecordBoth,
    .judge = judge,
};

}  // namespace stepscope::advice
