// The optimizer updates parameter by parameter: hundreds of tiny kernels where a few would do.
#include <algorithm>
#include <array>
#include <string>

#include "advice/host_stall.h"
#include "advice/known.h"
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

// Which of its forms PyTorch's optimizers have.
std::vector<Change> unfused_optimizer_changes(const Facts& facts) {
  static constexpr std::array<std::string_view, 4> kFused = {"AdamW", "Adam", "SGD", "Adagrad"};
  static constexpr std::array<std::string_view, 8> kForeach = {
      "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "Adafactor"};
  const std::string named = optimizer_named(facts);
  const auto is_in = [&](const auto& list) { return std::ranges::find(list, named) != list.end(); };
  if (is_in(kForeach)) {
    return {
        {"Use its form that updates lists of parameters, foreach=True: it is the default on a "
         "GPU and is switched off somewhere.",
         "torch.optim." + named + "(model.parameters(), ..., foreach=True)"}};
  }
  if (!named.empty() && !is_in(kFused)) {
    return {
        {"Let the compiler make a few kernels of its step, or write it with torch._foreach_ "
         "operators, which take lists of tensors.",
         "optimizer.step = torch.compile(optimizer.step)\n"
         "torch._foreach_lerp_(averages, gradients, 1 - beta)  # instead of: for a, g in "
         "zip(...): a.lerp_(g, 1 - beta)"}};
  }
  const std::string name = named.empty() ? "AdamW" : named;
  const std::string fused = "torch.optim." + name;
  const bool has_setting = name == "AdamW";  // of Hugging Face's Trainer
  return {{"Add fused=True where the optimizer is made: one kernel updates many parameters.",
           facts.by_framework("optimizer = " + fused + "(model.parameters(), ..., fused=True)",
                              "def configure_optimizers(self):\n"
                              "    return " +
                                  fused + "(self.parameters(), ..., fused=True)",
                              has_setting ? "TrainingArguments(..., optim=\"adamw_torch_fused\")"
                                          : "optimizer = " + fused +
                                                "(model.parameters(), ..., fused=True)\n"
                                                "Trainer(..., optimizers=(optimizer, None))")},
          {"If fused=True does not fit (some types of parameters): foreach=True, which is the "
           "default on a GPU and is switched off somewhere.",
           fused + "(model.parameters(), ..., foreach=True)"}};
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
  finding.changes = unfused_optimizer_changes(facts);
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
