// Idle time that no other rule looks for: waits for communication or for another stream, pauses
// between queued kernels, and what the trace does not explain.
#include <algorithm>
#include <array>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kGpuIdleNeeds =
    std::to_array<Need>({{"steps", "times"}, {"idle-time", "devices"}});
constexpr std::array<std::string_view, 2> kGpuIdleReads = {"overlap", "kernels"};

struct Reason {
  std::string_view column, text;
  std::string_view title;  // "The GPU is idle {} of each step, …"
  std::string_view detail;
};
constexpr std::array kReasons = std::to_array<Reason>({
    {"communication_ns", "waiting for communication on another stream",
     "most of it while it waits for communication",
     "Work was queued, but had to wait until the GPU had exchanged data with other ranks."},
    {"dependency_ns", "waiting for work on another stream",
     "most of it while one stream waits for another",
     "Work was queued, but had to wait for work on another CUDA stream (an event, wait_stream)."},
    {"kernel_ns", "short pauses between kernels that were already queued",
     "most of it in short pauses between kernels",
     "The CPU is far enough ahead, but each kernel is so short that the GPU spends much of its "
     "time "
     "on going from one to the next: about a microsecond each time."},
    {"other_ns", "queued work that did not begin; the trace does not say why",
     "most of it with work in its queue that did not begin",
     "The CPU had given the GPU its work in time, and the GPU did not begin it. Launching faster "
     "would not help. Something else held it up: work on another stream that it had to wait for "
     "(communication, copies), another process that shares the GPU, or the driver. Which of the "
     "three, this trace does not say, so there is nothing to change yet: find out first."},
});
constexpr Reason kGpuIdleTalk{
    "", "the CPU waits inside the process group", "most of it while the CPU waits in communication",
    "The CPU waits inside the process group, for other ranks or for the network, "
    "and gives the GPU no work meanwhile."};

// The host is in a process group meanwhile. Where that is gloo's doing, gloo-on-gpu says so, and
// it is not reported twice.
double talking(const Facts& facts, const RankSteps& rank) {
  const double gloo = exposed_gloo_ns(facts, rank);
  if (rank.step_ns > 0 && facts.level(kGlooOnGpu.id, gloo / rank.step_ns)) return 0;
  return facts.stall(rank, "communication").idle_ns;
}

double unexplained(const Facts& facts, const RankSteps& rank) {
  double sum = talking(facts, rank);
  for (const Reason& reason : kReasons) sum += idle_of(facts, rank, reason.column);
  return sum;
}

// What the GPU spends on starting and ending kernels, which a pause does not show: where many
// become one it goes, too. No more than they take.
double fixed_cost_ns(const Facts& facts, const RankSteps& rank) {
  const double each = facts.threshold(kGpuIdle.id, "kernel");
  double fixed = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    fixed += std::min(line.number("sum_ns"), each * line.number("count"));
  }
  return fixed * kernel_share_of_step(facts, rank);
}

std::string_view who_is_late(const Facts& facts) {
  if (facts.ranks().size() > 1) {
    return "See first whether one rank is late: its own findings say why.";
  }
  for (const Line& line : facts.lines("overview", "run")) {
    if (line.whole("world_size") != 1) continue;
    return "The job has one rank and no other to wait for: take the collectives out, or measure "
           "with more ranks.";
  }
  return "Only one rank was recorded: record the others too, one may be late.";
}

std::vector<Finding> judge_gpu_idle(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kGpuIdle.id,
                                 [&](const RankSteps& rank) { return unexplained(facts, rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const auto* const worst = std::ranges::max_element(
      kReasons, {}, [&](const Reason& reason) { return idle_of(facts, rank, reason.column); });
  const double talk = talking(facts, rank);
  const bool talks = talk > idle_of(facts, rank, worst->column);
  const bool too_short = !talks && worst->column == "kernel_ns";
  const double fixed = too_short ? fixed_cost_ns(facts, rank) : 0;
  Finding finding = begin_finding(facts, kGpuIdle, ranks, 0, unexplained(facts, rank) + fixed);
  const Reason& reason_of_most = talks ? kGpuIdleTalk : *worst;
  finding.title = {"The GPU is idle {} of each step, " + std::string(reason_of_most.title),
                   {share(ranks.front().share)}};
  finding.measured.name = "GPU idle for reasons no other rule looks for, of the step";
  finding.detail = {std::string(reason_of_most.detail)};
  if (fixed > 0) {
    finding.detail.form +=
        " Starting and ending a kernel takes the GPU time inside of it, too, up to {} in each: {} "
        "per step, which go with the pauses where many kernels become one. The larger figure of "
        "the gain counts both; how many can become one, a trace does not say, so the smaller one "
        "is nothing.";
    finding.detail.figures.push_back(nanos(facts.threshold(kGpuIdle.id, "kernel")));
    finding.detail.figures.push_back(nanos(fixed));
  }
  if (talk > 0) add_places(finding, facts, rank, "communication", 2);
  for (const Reason& reason : kReasons) {
    const double idle = idle_of(facts, rank, reason.column);
    if (idle <= 0) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} per step", {reason.text, nanos(idle)}}, .rank = rank.rank});
  }
  if (talks || worst->column == "communication_ns" || worst->column == "dependency_ns") {
    finding.changes = {
        {std::string(who_is_late(facts)) + " Then let communication run beside the backward pass.",
         "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)"}};
  } else if (worst->column == "other_ns") {
    finding.changes = {
        {"Find out which: `nvidia-smi` on that machine lists other processes on the GPU; if there "
         "are none, record again with what streams wait for, and this finding names the stream.",
         "from torch._C._profiler import _ExperimentalConfig\n"
         "profile(..., experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True))"}};
  } else {
    finding.changes = {
        {"Fewer, longer kernels: let the compiler fuse them.",
         facts.by_framework("model = torch.compile(model)",
                            "model = torch.compile(model)  # before fit()",
                            "TrainingArguments(..., torch_compile=True)")},
        {"In your own loops over parameters (averages of weights, clipping, logging of norms): one "
         "call for the whole list of tensors.",
         "torch._foreach_lerp_(averages, weights, 0.01)  # instead of: for a, w in zip(...): "
         "a.lerp_(w, 0.01)\n"
         "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)"}};
  }
  finding.verify =
      talks ? "Record again: `stepscope analyze stalls new.json` shows less idle time under "
              "'communication'."
            : "Record again: `stepscope analyze idle-time --table devices --columns device," +
                  std::string(worst->column) + " new.json` shows less under '" +
                  std::string(worst->column) + "'.";
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  // Nothing of it is sure to be gained: what others cause goes with their causes.
  finding.level = std::min(finding.level, Level::kWarning);
  return {finding};
}

}  // namespace

const Rule kGpuIdle{
    .id = "gpu-idle",
    .cause = "idle",
    .asks = "Is the GPU idle for a reason that no other rule looks for?",
    .needs = kGpuIdleNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_gpu_idle,
    .reads = kGpuIdleReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
