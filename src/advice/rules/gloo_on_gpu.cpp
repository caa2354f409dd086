// A GPU job communicates through the CPU: gloo copies every gradient to the host and back.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kGlooOnGpuNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 1> kGlooOnGpuReads = {"overlap"};

std::vector<Finding> judge_gloo_on_gpu(const Facts& facts) {
  const auto ranks = worst_ranks(
      facts, kGlooOnGpu.id, [&](const RankSteps& rank) { return exposed_gloo_ns(facts, rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  Finding finding = begin_finding(facts, kGlooOnGpu, ranks, 0,
                                  std::min(exposed_gloo_ns(facts, rank), rank.step_ns));
  // What of it is waiting for another rank stays.
  finding.level = std::min(finding.level, Level::kWarning);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"Ranks with GPUs communicate through the CPU (gloo): {} of each step",
                   {share(ranks.front().share)}};
  finding.measured.name = "gloo communicates while no GPU computes, of the step";
  finding.detail = {
      "gloo copies what the GPUs computed to the CPU, sends it from there and copies it back. "
      "NCCL "
      "sends it from GPU to GPU, beside the backward pass. A part of the time may be waiting for "
      "another rank, which NCCL does not mend."};
  for (const Line& line : facts.lines("overlap", "host", rank.rank)) {
    if (!is_gloo(line)) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} times in {} steps, {} per step while no GPU computes",
                  {line.text("collective"), count(line.number("count")),
                   count(static_cast<double>(rank.steps)),
                   nanos(line.number("exposed_ns") / static_cast<double>(rank.steps))}},
         .rank = rank.rank});
  }
  finding.changes = {{"Use NCCL for tensors on GPUs.",
                      facts.by_framework("torch.distributed.init_process_group(\"nccl\")\n"
                                         "# \"cpu:gloo,cuda:nccl\" where tensors of the CPU are "
                                         "sent, too (dcp.async_save)",
                                         "Trainer(..., strategy=DDPStrategy("
                                         "process_group_backend=\"nccl\"))",
                                         "TrainingArguments(..., ddp_backend=\"nccl\")")}};
  finding.verify =
      "Record again: `stepscope analyze overlap new.json` has no gloo rows in its table host, and "
      "communication runs on the GPU.";
  return {finding};
}

}  // namespace

const Rule kGlooOnGpu{
    .id = "gloo-on-gpu",
    .cause = "communication",
    .asks = "Do ranks with GPUs communicate through the CPU?",
    .needs = kGlooOnGpuNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_gloo_on_gpu,
    .reads = kGlooOnGpuReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
