// The optimizer updates parameter by parameter: hundreds of tiny kernels where a few would do.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kUnfusedOptimizerNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 2> kUnfusedOptimizerReads = {"kernels", "idle-time"};

struct Updates {
  double calls = 0, work = 0, device_ns = 0, host_ns = 0, waits = 0;
  double work_per_call() const { return calls > 0 ? work / calls : 0; }
  double mean_ns() const { return work > 0 ? device_ns / work : 0; }
};

Updates updates_of(const Facts& facts, std::int32_t rank) {
  Updates out;
  for (const Line& line : facts.lines("stalls", "kinds", rank)) {
    if (line.text("stall") != "optimizer") continue;
    out = {line.number("count"), line.number("work"), line.number("work_ns"),
           line.number("host_ns"), line.number("waits")};
  }
  return out;
}

bool is_unfused(const Facts& facts, std::int32_t rank) {
  const Updates updates = updates_of(facts, rank);
  return updates.work_per_call() >= facts.threshold(kUnfusedOptimizer.id, "kernels") &&
         updates.mean_ns() < facts.threshold(kUnfusedOptimizer.id, "kernel");
}

// What recording adds while the host is still ahead of the GPU is in the waits, too: the lead is
// gone the sooner. A host that comes to the optimizer ahead is further ahead without a profiler, by
// all that the rest of the step is shorter then.
double unfused_optimizer_recording_ns(const Facts& facts, const RankSteps& rank,
                                      const StallPerStep& waits, double lead) {
  constexpr double kAhead = 0.05;  // of the update
  const double own = tracing_cost(facts, rank, waits.idle_ns + lead).most;
  if (lead < kAhead * (waits.idle_ns + lead)) return own;
  return std::max(own, tracing_cost_of_step(facts, rank).most);
}

std::vector<Finding> judge_unfused_optimizer(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kUnfusedOptimizer.id, [&](const RankSteps& rank) {
    return is_unfused(facts, rank.rank) ? facts.stall(rank, "optimizer").idle_ns : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep waits = facts.stall(rank, "optimizer");
  const Updates updates = updates_of(facts, rank.rank);
  // The GPU's share of the work shrinks too: fused updates read and write each value once, and the
  // pauses between kernels that were queued are gone.
  const auto steps = static_cast<double>(rank.steps);
  const double device = updates.device_ns / steps;
  const double queued = std::max(0.0, updates.work - updates.waits) / steps;
  const double on_device = device / 2 + pauses_between_ns(facts, rank, queued);
  const double launching = facts.stall(rank, "launch").idle_ns;
  const double lead = std::max(0.0, updates.host_ns / steps - waits.idle_ns - device);
  const double surely =
      std::max(0.0, waits.idle_ns - unfused_optimizer_recording_ns(facts, rank, waits, lead));
  Finding finding =
      begin_finding(facts, kUnfusedOptimizer, ranks, kHidden * surely,
                    waits.idle_ns + lost_lead(facts, rank, waits.idle_ns, launching) + on_device);
  finding.title = {"The optimizer runs {} small kernels per step, one parameter at a time",
                   {count(updates.work_per_call())}};
  finding.measured.name = "GPU idle while the optimizer launches its work, of the step";
  finding.detail = {
      "optimizer.step() keeps the CPU busy for {} and starts {} kernels of {} on average: "
      "launching one takes longer than running it, so the GPU waits {} per step.",
      {nanos(updates.host_ns / updates.calls), count(updates.work_per_call()),
       nanos(updates.mean_ns()), nanos(waits.idle_ns)}};
  say_tracing(finding, rank, waits.idle_ns - surely);
  // The share above is an estimate, and steps played again may leave less.
  const Sure played = sure_of(facts, rank, waits);
  if (played.played && played.gain_ns < kHidden * surely) {
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
    finding.about_gain.form +=
        " The profiler itself may cause more of this wait: without it the gain may be only about "
        "{}. To know, " +
        std::string(kKnowTracing);
    finding.about_gain.figures.push_back(nanos(played.gain_ns));
  }
  add_places(finding, facts, rank, "optimizer");
  finding.changes = {
      {"Add fused=True where the optimizer is made: one kernel updates many parameters.",
       facts.by_framework("optimizer = torch.optim.AdamW(model.parameters(), ..., fused=True)",
                          "def configure_optimizers(self):\n"
                          "    return torch.optim.AdamW(self.parameters(), ..., fused=True)",
                          "TrainingArguments(..., optim=\"adamw_torch_fused\")")},
      {"Where an optimizer has no fused form: foreach=True, which is the default on a GPU and is "
       "switched off somewhere.",
       "torch.optim.Adadelta(model.parameters(), ..., foreach=True)"}};
  finding.verify =
      "Record again: in `stepscope analyze annotations --columns name,work_count,host_mean_ns "
      "new.json` the work_count of Optimizer.step, which is of all recorded steps together, is a "
      "few dozen for each of them instead of hundreds, and its time on the CPU shorter.";
  return {finding};
}

std::string why_not_unfused_optimizer(const Facts& facts) {
  const bool known = std::ranges::any_of(
      facts.ranks(), [&](const RankSteps& rank) { return updates_of(facts, rank.rank).calls > 0; });
  return known ? std::string() : "No range of an optimizer's step is in the trace";
}

}  // namespace

const Rule kUnfusedOptimizer{
    .id = "unfused-optimizer",
    .cause = "optimizer",
    .asks = "Does the optimizer launch hundreds of small kernels?",
    .needs = kUnfusedOptimizerNeeds,
    .wanted = Wanted::kRanges,
    .judge = judge_unfused_optimizer,
    .why_not = why_not_unfused_optimizer,
    .reads = kUnfusedOptimizerReads,
    .counted_launching_ns =
        [](const Facts& facts, const RankSteps& rank) {
          return facts.stall(rank, "optimizer").idle_ns;
        },
};

}  // namespace stepscope::advice
