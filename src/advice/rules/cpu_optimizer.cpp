// The optimizer works on the CPU: gradients are copied there and weights back, in each step.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/host_tasks.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kCpuOptimizerNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 2> kCpuOptimizerReads = {"host-work", "overview"};

double update_lost_ns(const StallPerStep& update) { return update.idle_ns + update.copy_ns; }

std::vector<Finding> judge_cpu_optimizer(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kCpuOptimizer.id, [&](const RankSteps& rank) {
    return update_lost_ns(facts.stall(rank, "update"));
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep update = facts.stall(rank, "update");
  const TaskPerStep task = task_of(facts, rank, "update");
  const double lost = update_lost_ns(update);
  Finding finding =
      begin_finding(facts, kCpuOptimizer, ranks, (1 - kHostVaries) * lost,
                    std::min((1 + kHostMore) * lost, lost + lost_lead(facts, rank, lost)));
  finding.about_gain = {" The same work takes the CPU up to {} less or {} more at another time.",
                        {share(kHostVaries), share(kHostMore)}};
  finding.title = {
      "The optimizer works on the CPU, and the GPU computes nothing meanwhile: {} of "
      "each step",
      {share(ranks.front().share)}};
  finding.measured.name =
      "copies for an optimizer on the CPU and waiting for it, while nothing computes, of the step";
  finding.detail = {
      "In each step {} are copied to the CPU in {} copies, the optimizer's operators "
      "work there for {}, and {} are copied back in {} copies. No kernel runs "
      "meanwhile: {} pass in the copies, {} in waiting.",
      {bytes(task.down_bytes), count(task.down), nanos(task.operators_ns), bytes(task.up_bytes),
       count(task.up), nanos(update.copy_ns), nanos(update.idle_ns)}};
  if (task.down == 0) {
    finding.detail = {
        "In each step the optimizer's operators work on the CPU for {}, and {} are "
        "copied to the GPU in {} copies. No kernel runs meanwhile: {} pass in the "
        "copies, {} in waiting.",
        {nanos(task.operators_ns), bytes(task.up_bytes), count(task.up), nanos(update.copy_ns),
         nanos(update.idle_ns)}};
  }
  add_operators(finding, facts, rank, "update");
  add_frames(finding, facts, rank, "update");
  finding.changes = {
      {"Let the optimizer work on the GPU, where there is memory for its state: for AdamW two more "
       "copies of the weights.",
       facts.by_framework(
           "model.cuda()  # before the optimizer is made\n"
           "optimizer = torch.optim.AdamW(model.parameters(), fused=True)",
           "def configure_optimizers(self):\n"
           "    return torch.optim.AdamW(self.parameters(), fused=True)  # on the GPU",
           "TrainingArguments(..., optim=\"adamw_torch_fused\")  # and no offload in the DeepSpeed "
           "or FSDP settings")},
      {"If its state does not fit: make it smaller, and leave it on the GPU.",
       "import bitsandbytes as bnb\n"
       "optimizer = bnb.optim.AdamW8bit(model.parameters())  # a quarter of the state"},
      {"If it must be on the CPU: copy through pinned memory and beside the backward pass, which "
       "offloading of FSDP and DeepSpeed does.",
       "from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard\n"
       "fully_shard(model, offload_policy=CPUOffloadPolicy(pin_memory=True))"}};
  finding.verify =
      "Record again: `stepscope analyze host-work new.json` shows nothing under 'update'.";
  return {finding};
}

}  // namespace

const Rule kCpuOptimizer{
    .id = "cpu-optimizer",
    .cause = "optimizer-offload",
    .asks = "Does the optimizer work on the CPU while the GPU waits?",
    .needs = kCpuOptimizerNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_cpu_optimizer,
    .reads = kCpuOptimizerReads,
    .says_bounds = true,
};

}  // namespace stepscope::advice
