// Tensors are copied to the CPU and looked at there, histograms and norms of weights for instance,
// while the GPU waits.
#include <algorithm>
#include <array>
#include <string>

#include "advice/host_stall.h"
#include "advice/host_tasks.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kLoggedTensorsNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 1> kLoggedTensorsReads = {"host-work"};

double logging_lost_ns(const StallPerStep& looks) { return looks.idle_ns + looks.copy_ns; }

std::vector<Finding> judge_logged_tensors(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kLoggedTensors.id, [&](const RankSteps& rank) {
    return logging_lost_ns(facts.stall(rank, "inspect"));
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep looks = facts.stall(rank, "inspect");
  const TaskPerStep task = task_of(facts, rank, "inspect");
  const double lost = logging_lost_ns(looks);
  Finding finding = begin_finding(facts, kLoggedTensors, ranks, (1 - kHostVaries) * lost,
                                  (1 + kHostMore) * (lost + lost_lead(facts, rank, lost)));
  finding.about_gain = {" The same work takes the CPU up to {} less or {} more at another time.",
                        {share(kHostVaries), share(kHostMore)}};
  if (rank.steps < 2) finding.level = std::min(finding.level, Level::kNotice);
  finding.title = {
      "Tensors are copied to the CPU and looked at there while the GPU waits: {} of "
      "the time",
      {share(ranks.front().share)}};
  finding.measured.name =
      "copies of tensors to the CPU and work on them there, while nothing computes, of the time of "
      "all steps";
  const double of =
      static_cast<double>(rank.steps) / static_cast<double>(std::max<std::int64_t>(1, task.steps));
  finding.detail = {"In {} of {} steps {} tensors ({}) are copied to the CPU, ",
                    {count(static_cast<double>(task.steps)), count(static_cast<double>(rank.steps)),
                     count(task.down * of), bytes(task.down_bytes * of)}};
  const bool by_python = task.quiet_ns > task.operators_ns;
  if (by_python) {
    finding.detail.form +=
        "and between the copies no operator of PyTorch runs for {}: Python or NumPy looks at each. "
        "Nothing in the recording says that they are saved.";
    finding.detail.figures.push_back(nanos(task.quiet_ns * of));
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  } else {
    finding.detail.form +=
        "and operators work on them there for {}. Nothing is launched on the GPU meanwhile.";
    finding.detail.figures.push_back(nanos(task.operators_ns * of));
  }
  if (task.steps < rank.steps) widen_by_rate(finding, facts, rank, "inspect");
  add_operators(finding, facts, rank, "inspect");
  add_frames(finding, facts, rank, "inspect");
  if (finding.evidence.empty()) add_places(finding, facts, rank, "inspect");
  finding.changes = {
      {"Do it rarely.",
       facts.by_framework(
           "if step % 500 == 0: log_histograms(model)  # wandb.watch(model, "
           "log_freq=500)",
           "if self.global_step % 500 == 0: log_histograms(self)  # in "
           "training_step or a callback",
           "if state.global_step % 500 == 0: log_histograms(model)  # in a callback")},
      {"Compute on the GPU, and copy only the result, once for all tensors.",
       "norms = torch.stack(torch._foreach_norm(list(model.parameters())))  # on the GPU\n"
       "bins = torch.stack([torch.histc(p.detach().float(), 64) for p in model.parameters()])\n"
       "norms, bins = norms.cpu(), bins.cpu()  # two copies"}};
  finding.verify =
      "Record again: `stepscope analyze host-work new.json` shows less under 'inspect'.";
  if (task.steps < rank.steps) doubt_how_often(finding, rank);
  return {finding};
}

}  // namespace

const Rule kLoggedTensors{
    .id = "logged-tensors",
    .cause = "logging",
    .asks = "Are tensors copied to the CPU and looked at there while the GPU waits?",
    .needs = kLoggedTensorsNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_logged_tensors,
    .reads = kLoggedTensorsReads,
    .says_bounds = true,
};

}  // namespace stepscope::advice
