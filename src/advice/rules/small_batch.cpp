// The GPU waits for launches and most of its memory is free: a larger batch costs the host nothing.
#include <algorithm>
#include <array>
#include <string>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kSmallBatchNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 1> kSmallBatchReads = {"overview"};

std::vector<Finding> judge_small_batch(const Facts& facts) {
  const double full = facts.threshold(kSmallBatch.id, "memory");
  const auto ranks = worst_ranks(facts, kSmallBatch.id, [&](const RankSteps& rank) {
    const bool has_room = held_memory(facts, rank.rank).value_or(1) < full;
    return has_room && waits_for_launches(facts, rank) ? facts.launching_ns(rank) : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double used = *held_memory(facts, rank.rank);
  // The gain is that of launch-bound, which says it.
  Finding finding = begin_finding(facts, kSmallBatch, ranks, 0, 0);
  finding.gain = std::nullopt;
  finding.level = Level::kNotice;
  finding.title = {"The batch is small for this GPU: {} of its memory is in use at most",
                   {share(used)}};
  finding.measured = {"GPU memory held at the peak", used, full, base::Unit::kShare};
  finding.detail = {
      "The GPU waits {} of each step for the CPU to launch work, and has memory for more work in "
      "each launch. Twice the batch takes the CPU no longer, and the samples per second rise "
      "until the GPU no longer waits.",
      {share(ranks.front().share)}};
  finding.changes = {
      {"Raise the batch until memory is nearly full" + std::string(after_larger_batch(facts)) + ".",
       facts.by_framework("loader = DataLoader(dataset, batch_size=2 * batch_size, ...)",
                          "Tuner(trainer).scale_batch_size(model, mode=\"power\")",
                          "TrainingArguments(..., auto_find_batch_size=True)")}};
  finding.verify =
      "Record again: samples per second rise (`stepscope check` with samples_per_step), and "
      "`stepscope analyze stalls new.json` shows a smaller share under 'launch'.";
  return {finding};
}

std::string why_not_small_batch(const Facts& facts) {
  const bool known = std::ranges::any_of(facts.ranks(), [&](const RankSteps& rank) {
    return held_memory(facts, rank.rank).has_value();
  });
  return known ? std::string() : "The trace does not say how much of the GPU's memory was in use";
}

}  // namespace

const Rule kSmallBatch{
    .id = "small-batch",
    .cause = "launch",
    .asks = "Could the batch be larger?",
    .needs = kSmallBatchNeeds,
    .wanted = Wanted::kMemory,
    .judge = judge_small_batch,
    .why_not = why_not_small_batch,
    .reads = kSmallBatchReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
