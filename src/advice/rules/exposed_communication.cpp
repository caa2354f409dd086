// Communication runs on the GPU while nothing computes: gradients are sent when there is nothing
// left to compute beside them.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kExposedCommunicationNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 1> kExposedCommunicationReads = {"overlap"};

// Per step and device.
double exposed_communication_exposed_of(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  double devices = 0;
  for (const Line& line : facts.lines("overlap", "devices", rank.rank)) {
    sum += line.number("exposed_ns");
    ++devices;
  }
  return devices > 0 ? sum / devices / static_cast<double>(rank.steps) : 0;
}

std::vector<Finding> judge_exposed_communication(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kExposedCommunication.id, [&](const RankSteps& rank) {
    return exposed_communication_exposed_of(facts, rank);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double exposed = exposed_communication_exposed_of(facts, rank);
  Finding finding = begin_finding(facts, kExposedCommunication, ranks, 0, exposed);
  // One rank does not show whether the network is slow or another rank is late.
  finding.level = std::min(finding.level, Level::kWarning);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"The GPU communicates {} of each step and computes nothing meanwhile",
                   {share(ranks.front().share)}};
  finding.measured.name = "communication while nothing computes, of the step";
  finding.detail = {
      "{} per step. Either there is nothing left to compute beside it, or another rank is late "
      "and the kernel waits for it: the findings of that rank say why.",
      {nanos(exposed)}};
  for (const Line& line : facts.lines("overlap", "collectives", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) break;
    if (line.number("exposed_ns") <= 0) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} per step exposed, {} hidden",
                  {line.text("collective"),
                   nanos(line.number("exposed_ns") / static_cast<double>(rank.steps)),
                   share(line.number("hidden_share"))}},
         .rank = rank.rank});
  }
  finding.changes = {
      {"Send gradients while the backward pass still computes, in larger pieces.",
       facts.by_framework(
           "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)",
           "Trainer(..., strategy=DDPStrategy(bucket_cap_mb=100, gradient_as_bucket_view=True))",
           "TrainingArguments(..., ddp_bucket_cap_mb=100)")},
      {"Communicate once for several batches: accumulate gradients without sending them.",
       facts.by_framework("with model.no_sync():  # all but the last of the batches\n"
                          "    loss(model(x), y).backward()",
                          "Trainer(..., accumulate_grad_batches=4)",
                          "TrainingArguments(..., gradient_accumulation_steps=4)")}};
  finding.verify =
      "Record again: `stepscope analyze overlap new.json` shows less exposed communication.";
  return {finding};
}

}  // namespace

const Rule kExposedCommunication{
    .id = "exposed-communication",
    .cause = "communication",
    .asks = "Does the GPU communicate while it could compute?",
    .needs = kExposedCommunicationNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_exposed_communication,
    .reads = kExposedCommunicationReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
