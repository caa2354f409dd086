// The forward pass is computed a second time in the backward pass to save memory, though memory may
// be free.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kRecomputeNeeds =
    std::to_array<Need>({{"steps", "times"}, {"operators", "operators"}});
constexpr std::array<std::string_view, 4> kRecomputeReads = {"mfu", "overview", "launches",
                                                             "stalls"};
// Work that is not done is not launched.
constexpr std::array<std::string_view, 1> kRecomputeExplains = {"launch-bound"};

double mean_of_steps(const Facts& facts, const RankSteps& rank, std::string_view column) {
  double sum = 0;
  for (const Line& line : facts.lines("mfu", "steps", rank.rank)) {
    if (line.has_value("step")) sum += line.number(column);
  }
  return sum / static_cast<double>(rank.steps);
}

// Lengths of the kernels that ran again, per step.
double again_ns(const Facts& facts, const RankSteps& rank) {
  return mean_of_steps(facts, rank, "recomputed_ns");
}

// Where the host cannot keep up, what it spends on starting them is the step's: as far as the GPU
// waits for launches, and the kernels themselves. 0 where the GPU is the slower.
double again_on_host_ns(const Facts& facts, const RankSteps& rank) {
  if (!waits_for_launches(facts, rank)) return 0;
  return std::min(mean_of_steps(facts, rank, "recomputed_host_ns"),
                  again_ns(facts, rank) + facts.launching_ns(rank));
}

void add_recompute_steps(Finding& finding, const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("mfu", "steps", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) return;
    if (!line.has_value("step") || line.number("recomputed_ns") <= 0) continue;
    finding.evidence.push_back(
        {.text = {"{} of the {} of kernels in this step are forward work done again",
                  {nanos(line.number("recomputed_ns")), nanos(line.number("compute_ns"))}},
         .rank = rank.rank,
         .step = line.whole("step")});
  }
}

std::vector<Finding> judge_recompute(const Facts& facts) {
  const double full = facts.threshold(kRecompute.id, "memory");
  const auto ranks = worst_ranks(facts, kRecompute.id, [&](const RankSteps& rank) {
    if (held_memory(facts, rank.rank).value_or(0) >= full) return 0.0;
    return std::max(again_ns(facts, rank), again_on_host_ns(facts, rank));
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double own = again_ns(facts, rank);
  const std::optional<double> used = held_memory(facts, rank.rank);
  const double host = again_on_host_ns(facts, rank);
  const bool on_host = host > own;
  // Its launches go too, and with them waits for the host. A step is as long as the slower of the
  // two: it surely saves what both do.
  Finding finding = begin_finding(facts, kRecompute, ranks, kHidden * own,
                                  std::max(own + std::min(own, facts.launching_ns(rank)), host));
  if (!used) {
    // It may well be needed.
    finding.level = std::min(finding.level, Level::kNotice);
    finding.measured.threshold = facts.threshold_of(kRecompute.id, finding.level);
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  }
  finding.title = {
      used ? "The forward pass is computed twice ({} of each step) to save memory that is free"
           : "The forward pass is computed twice to save memory: {} of each step",
      {share(ranks.front().share)}};
  finding.measured.name =
      on_host ? "the CPU starts forward work again in the backward pass, of the step"
              : "kernels of the forward pass that run again in the backward pass, of "
                "the step";
  finding.detail = {
      "Activation checkpointing keeps less from the forward pass and computes it again in the "
      "backward pass: {} of GPU work in each step. ",
      {nanos(own)}};
  if (on_host) {
    finding.detail.form +=
        "The GPU waits for the CPU in this run, so what counts is the {} that the CPU spends on "
        "starting that work, a part of which is the recording's. ";
    finding.detail.figures.push_back(nanos(host));
  }
  if (used) {
    finding.detail.form +=
        "At most {} of the GPU's memory is in use, so the run may do without it, or with less.";
    finding.detail.figures.push_back(share(*used));
  } else {
    finding.detail.form +=
        "Whether the memory it saves is needed was not recorded: if the GPU's memory is far from "
        "full (below 70 %" +
        memory_tool(facts) + "), the time is lost for nothing.";
  }
  add_recompute_steps(finding, facts, rank);
  finding.changes = {
      {"Switch activation checkpointing off, or keep it for some of the blocks only.",
       facts.by_framework(
           "x = block(x)  # in the model's forward(), instead of checkpoint(block, x)\n"
           "# or the model's own switch, such as gradient_checkpointing=False",
           "x = block(x)  # in the model's forward(), instead of checkpoint(block, x)\n"
           "# or the model's own switch, such as gradient_checkpointing=False",
           "TrainingArguments(..., gradient_checkpointing=False)\n"
           "# and no model.gradient_checkpointing_enable() in the script")},
      {"If memory does not suffice then: keep the results of matrix products, and compute only the "
       "cheap rest again.",
       "from functools import partial\n"
       "from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts\n"
       "keep = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]\n"
       "x = checkpoint(block, x, use_reentrant=False,\n"
       "               context_fn=partial(create_selective_checkpoint_contexts, keep))"}};
  finding.verify =
      "Record again: in `stepscope analyze mfu --table steps --columns step,step_ns,recomputed_ns "
      "new.json` recomputed_ns is near 0. If the training runs out of memory then, it was needed.";
  return {finding};
}

}  // namespace

const Rule kRecompute{
    .id = "recompute",
    .cause = "recompute",
    .asks = "Is the forward pass computed twice to save memory that is free?",
    .needs = kRecomputeNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_recompute,
    .reads = kRecomputeReads,
    .runs_dry = false,
    .explains = kRecomputeExplains,
};

}  // namespace stepscope::advice
