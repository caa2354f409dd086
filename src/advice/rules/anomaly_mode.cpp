// Autograd's anomaly mode is on: each result of the backward pass is searched for NaN and fetched,
// and each operator of the forward pass keeps Python's stack.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kAnomalyModeNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 1> kAnomalyModeReads = {"host-work"};
// The stacks that it keeps make launching slower.
constexpr std::array<std::string_view, 1> kAnomalyModeExplains = {"launch-bound"};

struct AnomalySigns {
  double nodes = 0, checked = 0;  // per step
  double work_ns = 0;             // of the GPU, per step
};

AnomalySigns anomaly_signs(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("host-work", "signs", rank.rank)) {
    const auto steps = static_cast<double>(rank.steps);
    return {line.number("backward_nodes") / steps, line.number("checked_nodes") / steps,
            line.number("check_work_ns") / steps};
  }
  return {};
}

// Checks of a program's own are on gradients of weights, and those of some layers.
bool is_anomaly_mode(const Facts& facts, const RankSteps& rank) {
  const AnomalySigns signs = anomaly_signs(facts, rank);
  return signs.nodes > 0 &&
         signs.checked >= facts.threshold(kAnomalyMode.id, "checked") * signs.nodes;
}

// In the checks, and in launching, which the stacks of the forward pass make longer.
double anomaly_idle_ns(const Facts& facts, const RankSteps& rank) {
  return facts.stall(rank, "debug").idle_ns + facts.launching_ns(rank);
}

std::vector<Finding> judge_anomaly_mode(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kAnomalyMode.id, [&](const RankSteps& rank) {
    return is_anomaly_mode(facts, rank) ? anomaly_idle_ns(facts, rank) : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const AnomalySigns signs = anomaly_signs(facts, rank);
  const StallPerStep checks = facts.stall(rank, "debug");
  const Sure sure = sure_of(facts, rank, checks);
  Finding finding = begin_finding(facts, kAnomalyMode, ranks, sure.gain_ns + signs.work_ns,
                                  anomaly_idle_ns(facts, rank) + signs.work_ns);
  finding.title = {"Autograd's anomaly mode is on, and the GPU waits: {} of each step",
                   {share(ranks.front().share)}};
  finding.measured.name = "GPU idle in the checks of anomaly mode and in launching, of the step";
  finding.detail = {
      "In {} of {} nodes of the backward pass a result is searched for NaN (aten::isnan), and the "
      "CPU waits for the answer: {} of waiting per step. Anomaly mode also keeps Python's stack "
      "for "
      "each operator of the forward pass, which makes launching slower. It is for finding a NaN, "
      "not for training.",
      {count(signs.checked), count(signs.nodes), nanos(checks.idle_ns)}};
  finding.about_gain = {
      " The smaller figure holds the checks alone: the waits for them, less what recording may be "
      "of those, and their kernels ({}). The larger one all waits for launches besides.",
      {nanos(signs.work_ns)}};
  add_places(finding, facts, rank, "debug");
  finding.changes = {
      {"Switch it off.",
       facts.by_framework(
           "torch.autograd.set_detect_anomaly(False)  # and no \"with detect_anomaly():\"",
           "Trainer(..., detect_anomaly=False)",
           "torch.autograd.set_detect_anomaly(False)  # before trainer.train()")},
      {"To be told of a NaN, look at the loss alone, and rarely.",
       "if step % 100 == 0 and not torch.isfinite(loss): raise RuntimeError(\"loss is not "
       "finite\")"}};
  finding.verify =
      "Record again: `stepscope analyze host-work --table signs new.json` shows no checked_nodes.";
  return {finding};
}

}  // namespace

const Rule kAnomalyMode{
    .id = "anomaly-mode",
    .cause = "anomaly-mode",
    .asks = "Does autograd's anomaly mode slow each step?",
    .needs = kAnomalyModeNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_anomaly_mode,
    .reads = kAnomalyModeReads,
    .runs_dry = false,
    .says_bounds = true,
    .explains = kAnomalyModeExplains,
};

}  // namespace stepscope::advice
