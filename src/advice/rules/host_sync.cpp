// The host waits for the GPU (.item(), .cpu(), print): the queue runs dry, and the GPU waits for
// the host in turn.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kNeeds = std::to_array<Need>({{"steps", "times"}, {"stalls", "sorts"}});

std::vector<Finding> judge(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kHostSync.id, [&](const RankSteps& rank) {
    return facts.stall(rank, "sync").idle_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep sync = facts.stall(rank, "sync");
  Finding finding = begin_finding(facts, kHostSync, ranks, kHidden * sync.idle_ns,
                                  sync.idle_ns + lost_lead(facts, rank, sync.idle_ns));
  finding.title = {sync.count >= 1.5 ? "The host stops {} times per step to wait for the GPU"
                                     : "The host stops to wait for the GPU",
                   {count(sync.count)}};
  finding.measured.name = "GPU idle because the host waited for it, of the step";
  finding.detail = {
      "A value that Python needs at once (.item(), .cpu(), float(loss), print, an if on a tensor) "
      "makes the host wait until the GPU has done everything before it. Then the queue is empty "
      "and "
      "the GPU waits: {} per step right behind these calls.",
      {nanos(sync.idle_ns)}};
  add_places(finding, facts, rank, "sync");
  finding.changes = {
      {"Keep the values on the GPU and fetch them rarely, all at once.",
       facts.by_framework(
           "losses.append(loss.detach())            # no .item() here\n"
           "if step % 50 == 0:\n"
           "    print(torch.stack(losses).mean().item()); losses.clear()",
           "self.log(\"loss\", loss.detach(), on_step=True)  # no .item()\n"
           "Trainer(..., log_every_n_steps=50)",
           "TrainingArguments(..., logging_steps=50, logging_nan_inf_filter=False)")},
      {"Compute over all parameters in one call instead of a Python loop.",
       "norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])  # one tensor"}};
  const bool barrier =
      std::ranges::any_of(facts.lines("stalls", "places", rank.rank), [](const Line& line) {
        return line.text("stall") == "sync" && line.text("op").starts_with("c10d::barrier");
      });
  if (barrier) {
    finding.changes.insert(finding.changes.begin(),
                           {"Take barriers out of the training loop: collectives wait by "
                            "themselves.",
                            "# delete in the loop:\ntorch.distributed.barrier()"});
  }
  finding.verify =
      "Record again: `stepscope analyze stalls` has no or few rows of 'sync'. "
      "torch.cuda.set_sync_debug_mode(\"warn\") names every line that waits.";
  return {finding};
}

}  // namespace

const Rule kHostSync{
    .id = "host-sync",
    .cause = "sync",
    .asks = "Does the host stop to wait for the GPU?",
    .needs = kNeeds,
    .record = kRecordBoth,
    .judge = judge,
};

}  // namespace stepscope::advice
