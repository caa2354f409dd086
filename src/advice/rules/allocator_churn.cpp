// Memory is taken from the driver and given back in every step, which makes host and GPU wait for
// each other. After warm-up a step should do neither.
#include <algorithm>
#include <array>
#include <optional>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kAllocatorChurnNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});

// Whether it goes on: the first step of a recording may be the one that warms up.
bool goes_on(const Facts& facts, const RankSteps& rank) {
  std::optional<std::int64_t> first;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    first = std::min(first.value_or(line.whole("step")), line.whole("step"));
  }
  double steps = 0;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    const bool has_calls = line.text("stall") == "allocator" && line.number("count") > 0;
    if (has_calls && line.whole("step") != *first) ++steps;
  }
  const auto later = static_cast<double>(rank.steps - 1);
  return later > 0 && steps >= facts.threshold(kAllocatorChurn.id, "steps") * later;
}

std::vector<Finding> judge_allocator_churn(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kAllocatorChurn.id, [&](const RankSteps& rank) {
    return goes_on(facts, rank) ? facts.stall(rank, "allocator").idle_ns : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep calls = facts.stall(rank, "allocator");
  const Sure sure = sure_of(facts, rank, calls);
  Finding finding = begin_finding(facts, kAllocatorChurn, ranks,
                                  sure.gain_ns - spread_of_idle_ns(facts, rank, "allocator"),
                                  calls.idle_ns + lost_lead(facts, rank, calls.idle_ns));
  finding.title = {
      "Every step gives GPU memory back to the system and asks for it again: {} calls per step",
      {count(calls.count)}};
  finding.measured.name = "GPU idle while the CPU takes or returns memory, of the step";
  finding.detail = {
      "cudaMalloc and cudaFree cost the CPU {} per step; cudaFree also waits until the GPU is "
      "done. PyTorch keeps freed memory for the next step, so that none of this should happen "
      "after "
      "the first steps. torch.cuda.empty_cache() in the loop undoes it; so do sizes that change "
      "from step to step when memory is nearly full.",
      {nanos(calls.host_ns)}};
  // Beyond the calls themselves, the gain is the lead that they cost: an estimate.
  const auto surely = static_cast<double>(finding.gain->low);
  if (surely > kHidden * calls.inside_ns) {
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  }
  say_tracing(finding, rank, sure);
  add_places(finding, facts, rank, "allocator");
  finding.changes = {
      {"Remove torch.cuda.empty_cache() (and gc.collect() beside it) from the training loop.",
       facts.by_framework("# torch.cuda.empty_cache()    <- delete this line in the loop",
                          "# torch.cuda.empty_cache()    <- delete this line in training_step and "
                          "callbacks",
                          "TrainingArguments(..., torch_empty_cache_steps=None)")},
      {"If there is no such line, and shapes change from step to step: let PyTorch extend its "
       "blocks of GPU memory instead of giving them back and asking for others.",
       "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True  # in the shell or job script"}};
  finding.verify =
      "Record again a few steps after the start: `stepscope analyze stalls new.json` has no "
      "'allocator' "
      "row, and torch.cuda.memory_stats()[\"num_device_alloc\"] stays the same from step to step.";
  return {finding};
}

std::string why_not_allocator_churn(const Facts& facts) {
  const bool enough =
      std::ranges::any_of(facts.ranks(), [](const RankSteps& rank) { return rank.steps > 1; });
  return enough ? std::string() : "One step cannot tell whether memory is taken anew in every step";
}

}  // namespace

const Rule kAllocatorChurn{
    .id = "allocator-churn",
    .cause = "allocator",
    .asks = "Is memory taken from the driver in every step?",
    .needs = kAllocatorChurnNeeds,
    .wanted = Wanted::kSteps,
    .judge = judge_allocator_churn,
    .why_not = why_not_allocator_churn,
};

}  // namespace stepscope::advice
