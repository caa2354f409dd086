// Training stands still while a checkpoint is written.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kCheckpointStallNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 2> kCheckpointStallReads = {"overview", "throughput"};
// What the program recorded of itself, over all of the run.
constexpr std::array kCheckpointStallInstead = std::to_array<Need>({{"throughput", "saves"}});

std::string code_for_background(const Facts& facts) {
  // Ranks agree on the files through the CPU, while NCCL is training's.
  const std::string start =
      has_several_ranks(facts)
          ? "# once, at the start: saving in the background needs a backend for the CPU, too\n"
            "torch.distributed.init_process_group(\"cpu:gloo,cuda:nccl\")\n"
          : std::string();
  return facts.by_framework(
      start +
          "import torch.distributed.checkpoint as dcp\n"
          "state = {\"model\": model.state_dict(), \"optimizer\": optimizer.state_dict()}\n"
          "future = dcp.async_save(state, checkpoint_id=path)\n"
          "# before the next save: future.result()\n"
          "# to read it: dcp.load(state, checkpoint_id=path); torch.load cannot read this format",
      "from lightning.pytorch.plugins import AsyncCheckpointIO\n"
      "Trainer(..., plugins=[AsyncCheckpointIO()])",
      "TrainingArguments(..., save_strategy=\"steps\", save_steps=2000, "
      "save_only_model=True)\n"
      "# writes less, but training cannot be resumed from it: the optimizer is left out");
}

// Of the waits, what noting the calls around each copy may be: most of a save is writing, which no
// profiler makes longer. With Python's stacks, the dearest, it was a twentieth of a millisecond.
double checkpoint_stall_recording_ns(const Facts& facts, const RankSteps& rank,
                                     const StallPerStep& save) {
  constexpr double kPerCopy = 50'000;
  return std::min(tracing_cost(facts, rank, save.idle_ns).most, kPerCopy * save.count);
}

void add_checkpoint_stall_changes(Finding& finding, const Facts& facts) {
  finding.changes = {
      {"Save more rarely.", facts.by_framework("if step % 2000 == 0: torch.save(state, path)",
                                               "ModelCheckpoint(every_n_train_steps=2000)",
                                               "TrainingArguments(..., save_steps=2000)")},
      {"Write the checkpoint in the background: copy to pinned memory, then save while training "
       "goes on.",
       code_for_background(facts)}};
}

std::vector<Finding> judge_traced(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kCheckpointStall.id, [&](const RankSteps& rank) {
    const StallPerStep save = facts.stall(rank, "save");
    return save.idle_ns + save.copy_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep save = facts.stall(rank, "save");
  // In the background the copies go to pinned memory, which is faster; saved rarely, they are gone.
  const double still = save.copy_ns / facts.threshold(kSlowTransfers.id, "pinned_speedup");
  const double recording = checkpoint_stall_recording_ns(facts, rank, save);
  Finding finding = begin_finding(
      facts, kCheckpointStall, ranks, kHidden * (save.idle_ns - recording + save.copy_ns - still),
      save.idle_ns + save.copy_ns + lost_lead(facts, rank, save.idle_ns));
  // Without steps it is not known whether the save is part of training.
  if (rank.steps < 2) finding.level = std::min(finding.level, Level::kNotice);
  finding.measured.name = "training stands still, of the time of all steps";
  const double once = (save.idle_ns + save.copy_ns) * static_cast<double>(rank.steps) /
                      static_cast<double>(save.steps);
  finding.title = {
      "Training stands still while a checkpoint is written: {} of the time here, {} each time",
      {share(ranks.front().share), nanos(once)}};
  finding.detail = {
      "In {} of {} steps the CPU copies {} tensors ({}) from the GPU one by one and writes "
      "them, and the GPU waits up to {} at a time until that is done.",
      {count(static_cast<double>(save.steps)), count(static_cast<double>(rank.steps)),
       count(save.count * static_cast<double>(rank.steps) / static_cast<double>(save.steps)),
       bytes(save.bytes * static_cast<double>(rank.steps) / static_cast<double>(save.steps)),
       nanos(save.longest_ns)}};
  // How often a training saves decides what it gains, and a recording of a few steps is no measure.
  constexpr double kUsual = 1000;
  finding.detail.form +=
      " The gain holds for a training that saves as often as this recording, in {} of {} steps. "
      "One save costs {}: with one in {} steps that is {} per step, and nothing needs to change.";
  for (const Figure& figure :
       {count(static_cast<double>(save.steps)), count(static_cast<double>(rank.steps)), nanos(once),
        count(kUsual), nanos(once / kUsual)}) {
    finding.detail.figures.push_back(figure);
  }
  add_places(finding, facts, rank, "save");
  add_checkpoint_stall_changes(finding, facts);
  finding.verify =
      "Record again over a step that saves: saved in the background, it takes about as long as the "
      "others in `stepscope analyze steps --table steps new.json`.";
  doubt_how_often(finding, rank);
  return {finding};
}

// Of the run as its program recorded it, where no traced step saves: a save is part of no step
// there, so that a step has nothing to gain, but the run.
std::vector<Finding> judge_recorded(const Facts& facts) {
  std::vector<Line> ranks = facts.lines("throughput", "saves");
  std::erase_if(ranks, [&](const Line& line) {
    return !facts.level(kCheckpointStall.id, line.number("save_share"));
  });
  if (ranks.empty()) return {};
  std::ranges::stable_sort(ranks, std::ranges::greater{},
                           [](const Line& line) { return line.number("save_share"); });
  const Line& worst = ranks.front();
  const double part = worst.number("save_share");
  Finding finding{.rule = kCheckpointStall.id, .cause = kCheckpointStall.cause};
  // One save, early in a training that has just begun, says little about the rest.
  finding.level = std::min(facts.level(kCheckpointStall.id, part).value_or(Level::kInfo),
                           worst.whole("saves") > 1 ? Level::kWarning : Level::kNotice);
  finding.confidence = worst.whole("saves") > 1 ? Confidence::kHigh : Confidence::kMedium;
  finding.measured = {.name =
                          "training stands still for checkpoints, of the time of all steps and "
                          "saves",
                      .value = part,
                      .threshold = facts.threshold_of(kCheckpointStall.id, finding.level)};
  for (const Line& line : ranks) {
    finding.ranks.push_back(static_cast<std::int32_t>(line.whole("rank")));
  }
  finding.title = {
      "Training stands still while a checkpoint is written: {} of the time here, {} each time",
      {share(part), nanos(worst.number("mean_ns"))}};
  finding.detail = {
      worst.whole("saves") == 1
          ? "Between steps the program wrote {} checkpoint, and stood still {} for it."
          : "Between steps the program wrote {} checkpoints, and stood still {} for them, up to "
            "{} at a time.",
      {count(worst.number("saves")), nanos(worst.number("save_ns"))}};
  if (worst.whole("saves") > 1) finding.detail.figures.push_back(nanos(worst.number("max_ns")));
  finding.detail.form +=
      " That is no part of any step, and no rate counts it; the run as a whole takes so much "
      "longer. It holds for a training that saves as often as this one did while it was recorded.";
  add_checkpoint_stall_changes(finding, facts);
  finding.verify =
      "Record again: `stepscope analyze throughput --table saves new.json` shows less time.";
  return {finding};
}

std::vector<Finding> judge_checkpoint_stall(const Facts& facts) {
  std::vector<Finding> found;
  if (facts.table("stalls", "kinds") != nullptr && facts.no_device_work().empty()) {
    found = judge_traced(facts);
  }
  return found.empty() ? judge_recorded(facts) : found;
}

}  // namespace

const Rule kCheckpointStall{
    .id = "checkpoint-stall",
    .cause = "checkpoint",
    .asks = "Does training stand still while checkpoints are written?",
    .needs = kCheckpointStallNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_checkpoint_stall,
    .reads = kCheckpointStallReads,
    .instead = kCheckpointStallInstead,
};

}  // namespace stepscope::advice
