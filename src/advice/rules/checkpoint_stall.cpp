// Training stands still while a checkpoint is written, or while something that was not recorded
// goes on: logging, validation, files.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kNeeds = std::to_array<Need>({{"steps", "times"}, {"stalls", "sorts"}});

// Pauses count only where they are long for this run.
StallPerStep pauses(const Facts& facts, const RankSteps& rank) {
  const StallPerStep pause = facts.stall(rank, "pause");
  const double least = facts.threshold(kCheckpointStall.id, "pause") * rank.median_ns;
  return pause.longest_ns >= least ? pause : StallPerStep{};
}

std::vector<Finding> judge(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kCheckpointStall.id, [&](const RankSteps& rank) {
    const StallPerStep save = facts.stall(rank, "save");
    return save.idle_ns + save.copy_ns + pauses(facts, rank).idle_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep save = facts.stall(rank, "save");
  const StallPerStep pause = pauses(facts, rank);
  const double own = save.idle_ns + pause.idle_ns;
  Finding finding = begin_finding(facts, kCheckpointStall, ranks, kHidden * own,
                                  own + save.copy_ns + lost_lead(facts, rank, own));
  // Without steps nobody knows whether the pause is part of training.
  if (rank.steps < 2) finding.level = std::min(finding.level, Level::kNotice);
  const bool saves = save.idle_ns + save.copy_ns >= pause.idle_ns;
  finding.measured.name = "training stands still, of the time of all steps";
  if (saves) {
    finding.title = {"Training stands still while a checkpoint is written: {} of the time",
                     {share(ranks.front().share)}};
    finding.detail = {
        "In {} of {} steps the host copies {} tensors ({}) from the GPU one by one and writes "
        "them, "
        "and the GPU waits up to {} at a time until that is done.",
        {count(static_cast<double>(save.steps)), count(static_cast<double>(rank.steps)),
         count(save.count * static_cast<double>(rank.steps) / static_cast<double>(save.steps)),
         bytes(save.bytes * static_cast<double>(rank.steps) / static_cast<double>(save.steps)),
         nanos(save.longest_ns)}};
    add_places(finding, facts, rank, "save");
    finding.changes = {
        {"Write the checkpoint in the background: copy to pinned memory, then save while training "
         "goes on.",
         facts.by_framework(
             "import torch.distributed.checkpoint as dcp\n"
             "future = dcp.async_save({\"model\": model.state_dict()}, checkpoint_id=path)",
             "from lightning.pytorch.plugins import AsyncCheckpointIO\n"
             "Trainer(..., plugins=[AsyncCheckpointIO()])",
             "TrainingArguments(..., save_strategy=\"steps\", save_steps=2000, "
             "save_only_model=True)")},
        {"Save more rarely.", facts.by_framework("if step % 2000 == 0: save(model)",
                                                 "ModelCheckpoint(every_n_train_steps=2000)",
                                                 "TrainingArguments(..., save_steps=2000)")}};
  } else {
    finding.title = {"The GPU waits for something that is not training: {} of the time",
                     {share(ranks.front().share)}};
    finding.detail = {
        "In {} of {} steps the host does something in which no operator was recorded, and the GPU "
        "waits up to {} at a time. Writing files, logging, validation and Python's garbage "
        "collector "
        "look like this.",
        {count(static_cast<double>(pause.steps)), count(static_cast<double>(rank.steps)),
         nanos(pause.longest_ns)}};
    add_places(finding, facts, rank, "pause");
    finding.changes = {
        {"Find out what it is: record once with Python's stacks.",
         "torch.profiler.profile(..., with_stack=True)\n# then: stepscope analyze cpu --table "
         "frames trace.json"},
        {"Do it more rarely, or in a thread of its own.",
         facts.by_framework("if step % 100 == 0: log(metrics)",
                            "Trainer(..., log_every_n_steps=100)",
                            "TrainingArguments(..., logging_steps=100)")}};
  }
  finding.verify =
      "Record again over a step that saves or logs: it takes as long as the others in `stepscope "
      "analyze steps --table steps`.";
  if (rank.steps < 5 && finding.confidence == Confidence::kHigh) {
    finding.confidence = Confidence::kMedium;  // how often it happens is a guess
  }
  return {finding};
}

}  // namespace

const Rule kCheckpointStall{
    .id = "checkpoint-stall",
    .cause = "checkpoint",
    .asks = "Does training stand still for checkpoints, logging or validation?",
    .needs = kNeeds,
    .record =
        "steps in which a checkpoint is written or metrics are logged, with CPU and "
        "CUDA activities",
    .judge = judge,
};

}  // namespace stepscope::advice
