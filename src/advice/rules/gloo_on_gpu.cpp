// A GPU job communicates through the CPU: gloo copies every gradient to the host and back.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kGlooOnGpuNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 2> kGlooOnGpuReads = {"overlap", "transfers"};
// What is copied to the CPU and back holds up work that was launched.
constexpr std::array<std::string_view, 1> kGlooOnGpuExplains = {"gpu-idle"};

// What the CPU sends of the GPU's, it has to copy first: so little is none of a model's tensors.
bool copies_tensors(const Facts& facts, const RankSteps& rank) {
  constexpr double kLeast = 1 << 20;  // bytes per step
  const auto lines = facts.lines("transfers", "classes", rank.rank);
  if (lines.empty()) return true;  // not known
  double copied = 0;
  for (const Line& line : lines) {
    const bool sized = line.has_value("bytes") && line.number("bytes") > 0;
    if (line.text("kind") == "DtoH" && !sized) return true;
    if (line.text("kind") == "DtoH") copied += line.number("bytes");
  }
  return copied / static_cast<double>(rank.steps) >= kLeast;
}

bool has_backward(const Facts& facts, const RankSteps& rank) {
  const auto lines = facts.lines("overlap", "host", rank.rank);
  return std::ranges::any_of(lines,
                             [](const Line& line) { return line.whole("has_backward") != 0; });
}

void speak_of_tensors(Finding& finding, const Facts& facts, const RankSteps& rank, double of_step) {
  finding.title = {"Ranks with GPUs communicate through the CPU (gloo): {} of each step",
                   {share(of_step)}};
  finding.detail = {
      has_backward(facts, rank)
          ? "gloo copies what the GPUs computed to the CPU, sends it from there and copies it "
            "back. "
            "NCCL sends it from GPU to GPU, beside the backward pass. A part of the time may be "
            "waiting for another rank, which NCCL does not mend."
          : "gloo copies what the GPUs computed to the CPU, sends it from there and copies it "
            "back. "
            "NCCL sends it from GPU to GPU. A part of the time may be waiting for another rank, "
            "which NCCL does not mend."};
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
}

// Objects, lengths, requests: they are the CPU's own, and another backend would not make them
// faster.
void speak_of_messages(Finding& finding, double of_step) {
  finding.title = {"Ranks wait for messages between their CPUs (gloo): {} of each step",
                   {share(of_step)}};
  finding.detail = {
      "Hardly anything is copied from the GPU in a step, so that gloo sends what the CPU has: "
      "objects, lengths, requests. Each exchange waits for the slowest rank, and meanwhile no GPU "
      "of this one computes."};
  finding.changes = {
      {"Exchange several of them at once, less often, or while the GPU computes.", ""}};
  finding.verify =
      "Record again: `stepscope analyze overlap new.json` shows less exposed time in its table "
      "host.";
}

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
  if (copies_tensors(facts, rank)) {
    speak_of_tensors(finding, facts, rank, ranks.front().share);
  } else {
    speak_of_messages(finding, ranks.front().share);
  }
  finding.measured.name = "gloo communicates while no GPU computes, of the step";
  for (const Line& line : facts.lines("overlap", "host", rank.rank)) {
    if (!is_gloo(line)) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} times in {} steps, {} per step while no GPU computes",
                  {line.text("collective"), count(line.number("count")),
                   count(static_cast<double>(rank.steps)),
                   nanos(line.number("exposed_ns") / static_cast<double>(rank.steps))}},
         .rank = rank.rank});
  }
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
    .explains = kGlooOnGpuExplains,
};

}  // namespace stepscope::advice
