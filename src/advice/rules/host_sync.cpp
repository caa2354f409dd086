// The host waits for the GPU (.item(), .cpu(), print): the queue runs dry, and the GPU waits for
// the host in turn.
#include <algorithm>
#include <array>
#include <utility>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kHostSyncNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});

// Where values are fetched one by one.
std::vector<Change> value_changes(const Facts& facts, double per_step) {
  std::vector<Change> out = {
      {"Keep the values on the GPU and fetch them rarely, all at once.",
       facts.by_framework(
           "losses.append(loss.detach())            # no .item() here\n"
           "if step % 50 == 0:\n"
           "    print(torch.stack(losses).mean().item()); losses.clear()",
           "self.log(\"loss\", loss.detach(), on_step=True)  # no .item()\n"
           "Trainer(..., log_every_n_steps=50)",
           "TrainingArguments(..., logging_steps=50, logging_nan_inf_filter=False)")},
      {"Where .item() is called for each parameter, gradient or class: leave the values on the "
       "GPU, "
       "and fetch them together.",
       "values = torch.stack([p.detach().abs().mean() for p in model.parameters()])  # what you "
       "have, without .item()\n"
       "if step % 50 == 0: print(values.tolist())  # one wait for all of them"}};
  constexpr double kOneByOne = 10;  // more than a few losses: a loop fetches them
  if (per_step >= kOneByOne && facts.framework() == Framework::kPyTorch) std::swap(out[0], out[1]);
  return out;
}

const Change kSynchronize = {
    "Delete torch.cuda.synchronize() from the training loop: results are waited for by themselves "
    "where they are needed. To time a part of it, let the GPU take the times, and read them "
    "rarely.",
    "# delete in the loop:\ntorch.cuda.synchronize()\n"
    "# instead, around what is to be timed:\n"
    "start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))\n"
    "start.record(); ...; end.record()\n"
    "if step % 50 == 0: end.synchronize(); print(start.elapsed_time(end))"};

const Change kMask = {
    "Selecting by a mask (x[mask], nonzero, masked_select) waits until the GPU has counted what is "
    "left. Weigh by the mask instead, or select on the CPU before the copy.",
    "loss = (each * mask).sum() / mask.sum()  # instead of each[mask].mean()\n"
    "x = torch.where(mask, new, x)            # instead of x[mask] = new[mask]"};

// Waits for the GPU; of selections, also those for the work that they launch.
struct Waits {
  StallPerStep sync;
  bool selects = false;
  double launching_ns = 0;  // of selections
  double own_ns() const { return sync.idle_ns + launching_ns; }
};

Waits waits_of(const Facts& facts, const RankSteps& rank) {
  Waits out{facts.stall(rank, "sync"), waits_for_selections(facts, rank)};
  if (out.selects) out.launching_ns = launching_of_selections_ns(facts, rank);
  return out;
}

// Which calls waited, by what the places of a rank say.
struct Callers {
  bool barrier = false, synchronize = false, values = false;
};

Callers callers_of(const Facts& facts, const RankSteps& rank) {
  constexpr double kWorthNaming = 0.1;  // of what all of them cost
  double barrier = 0, synchronize = 0, values = 0;
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") != "sync") continue;
    // A place without a call or an operator comes after one that has them.
    const bool of_device = line.text("call").ends_with("DeviceSynchronize");
    const bool of_barrier = line.text("op").starts_with("c10d::barrier");
    if (!of_barrier && !of_device && !line.has_value("op") && !line.has_value("call")) continue;
    (of_barrier  ? barrier
     : of_device ? synchronize
                 : values) += std::max(1.0, line.number("idle_ns"));
  }
  const double least = kWorthNaming * (barrier + synchronize + values);
  return {barrier > 0, synchronize > least,
          values > least || (barrier <= 0 && synchronize <= least)};
}

void say_who_waits(Finding& finding, const Facts& facts, const Callers& callers,
                   const StallPerStep& sync) {
  constexpr std::string_view kThen =
      " Then the queue is empty and the GPU waits: {} per step directly after these calls.";
  finding.detail.figures = {nanos(sync.idle_ns)};
  if (!callers.values && callers.synchronize) {
    finding.detail.form =
        "torch.cuda.synchronize() makes the CPU wait until the GPU has done everything before it, "
        "which training does not need.";
  } else if (!callers.values) {
    finding.detail.form =
        "A barrier makes the CPU wait until every rank has come to it and the GPU has done "
        "everything before it.";
  } else {
    finding.detail.form =
        "A value that Python needs at once (.item(), .cpu(), float(loss), print, "
        "an if on a tensor, x[mask])";
    if (callers.synchronize) finding.detail.form += " and torch.cuda.synchronize()";
    finding.detail.form += callers.synchronize ? " make" : " makes";
    finding.detail.form += " the CPU wait until the GPU has done everything before it.";
    finding.changes = value_changes(facts, sync.count);
  }
  finding.detail.form += kThen;
}

std::vector<Finding> judge_host_sync(const Facts& facts) {
  const auto ranks = worst_ranks(
      facts, kHostSync.id, [&](const RankSteps& rank) { return waits_of(facts, rank).own_ns(); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const Waits waits = waits_of(facts, rank);
  const StallPerStep& sync = waits.sync;
  const double own = waits.own_ns();
  const double rest = std::max(0.0, facts.launching_ns(rank) - waits.launching_ns);
  Sure sure = sure_of(facts, rank, sync);
  sure += sure_of(facts, rank, {.idle_ns = waits.launching_ns});
  Finding finding =
      begin_finding(facts, kHostSync, ranks, sure.gain_ns - spread_of_idle_ns(facts, rank, "sync"),
                    own + lost_lead(facts, rank, own, rest));
  finding.title = {sync.count >= 1.5 ? "The CPU stops {} times per step to wait for the GPU"
                                     : "The CPU stops to wait for the GPU",
                   {count(sync.count)}};
  if (sync.count < 1.5) finding.title.figures.clear();
  finding.measured.name = "GPU idle because the CPU waited for it, of the step";
  const Callers callers = callers_of(facts, rank);
  say_who_waits(finding, facts, callers, sync);
  if (waits.launching_ns > 0) {
    finding.measured.name =
        "GPU idle because the CPU waited for it, or launched the work of selections, of the step";
    finding.detail.form +=
        " Selecting by a mask also launches a row of small kernels, forwards and backwards, and "
        "the GPU waits for those: {} per step more.";
    finding.detail.figures.push_back(nanos(waits.launching_ns));
  }
  say_tracing(finding, rank, sure);
  add_places(finding, facts, rank, "sync");
  if (waits.selects) finding.changes.insert(finding.changes.begin(), kMask);
  if (callers.synchronize) finding.changes.insert(finding.changes.begin(), kSynchronize);
  if (callers.barrier) {
    finding.changes.insert(finding.changes.begin(),
                           {"Take barriers out of the training loop: collectives wait by "
                            "themselves.",
                            "# delete in the loop:\ntorch.distributed.barrier()"});
  }
  finding.verify =
      "Record again: `stepscope analyze stalls new.json` counts at most a few 'sync' per step. To "
      "find the lines: after torch.cuda.set_sync_debug_mode(\"warn\") PyTorch warns of most of "
      "them (torch.cuda.synchronize() is not among these).";
  return {finding};
}

}  // namespace

const Rule kHostSync{
    .id = "host-sync",
    .cause = "sync",
    .asks = "Does the CPU stop to wait for the GPU?",
    .needs = kHostSyncNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_host_sync,
    .counted_launching_ns =
        [](const Facts& facts, const RankSteps& rank) {
          return waits_for_selections(facts, rank) ? launching_of_selections_ns(facts, rank) : 0.0;
        },
};

}  // namespace stepscope::advice
