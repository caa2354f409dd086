// Kernels that take much of the step and leave multiprocessors without a block to run.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kLowOccupancyNeeds =
    std::to_array<Need>({{"steps", "times"}, {"kernels", "kernels"}});

// So few blocks that most multiprocessors have nothing to do. Kernels that stay on the GPU and
// fetch their work themselves start one for each, less a few: those are full.
bool leaves_empty(const Facts& facts, const Line& line) {
  return line.text("class") == "compute" && line.has_value("name") &&
         line.has_value("blocks_per_sm") &&
         line.number("blocks_per_sm") < facts.threshold(kLowOccupancy.id, "blocks");
}

double empty_of(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (leaves_empty(facts, line)) sum += line.number("sum_ns") * kernel_share_of_step(facts, rank);
  }
  return sum;
}

// Of the time of computing kernels, that of kernels which say how many blocks they start.
double known_share_of(const Facts& facts, const RankSteps& rank) {
  double known = 0;
  double all = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (line.text("class") != "compute") continue;
    all += line.number("sum_ns");
    if (line.has_value("blocks_per_sm")) known += line.number("sum_ns");
  }
  return all > 0 ? known / all : 1;
}

// What a GPU full of blocks would save at most.
double unused_of(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (!leaves_empty(facts, line)) continue;
    sum += line.number("sum_ns") * kernel_share_of_step(facts, rank) *
           std::max(0.0, 1 - line.number("blocks_per_sm"));
  }
  return sum;
}

// How many times the batch fills the GPU: a power of two, for the emptiest that matters most.
std::int64_t times_the_batch(const Facts& facts, const RankSteps& rank) {
  constexpr std::int64_t kMost = 16;
  double longest = 0;
  double blocks = 1;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (!leaves_empty(facts, line) || line.number("sum_ns") <= longest) continue;
    longest = line.number("sum_ns");
    blocks = line.number("blocks_per_sm");
  }
  std::int64_t times = 2;
  constexpr double kFull = 0.9;
  while (times < kMost && static_cast<double>(times) * blocks < kFull) times *= 2;
  return times;
}

// Which kernels these are: the threshold is the user's to set.
struct Wording {
  std::string title, measured, leaves;
};

Wording wording_for(double blocks) {
  constexpr double kHalf = 0.5;
  if (blocks == kHalf) {
    return {"Kernels that fill less than half of the GPU", "blocks for less than half of the GPU",
            "most of the GPU's multiprocessors have nothing to do"};
  }
  const std::string few = fmt::format("fewer than {} blocks for each multiprocessor", blocks);
  return {"Kernels with " + few, few,
          blocks < kHalf ? "most of the GPU's multiprocessors have nothing to do"
                         : "the GPU's multiprocessors have little or nothing to do"};
}

std::vector<Finding> judge_low_occupancy(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kLowOccupancy.id,
                                 [&](const RankSteps& rank) { return empty_of(facts, rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  Finding finding = begin_finding(facts, kLowOccupancy, ranks, 0, unused_of(facts, rank));
  finding.level = std::min(finding.level, Level::kNotice);  // nothing of it is sure to be gained
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  const Wording words = wording_for(facts.threshold(kLowOccupancy.id, "blocks"));
  finding.title = {words.title + " take {} of each step", {share(ranks.front().share)}};
  finding.measured.name = "kernels with " + words.measured + ", of the step";
  finding.detail = {
      "A kernel, one piece of work on the GPU, is cut into blocks, and these start so few that " +
      words.leaves +
      ". Usually the tensors are small: with a larger batch such kernels take about as long and do "
      "more. Then a step does not become shorter, but trains on more samples: compare samples per "
      "second."};
  constexpr double kNearlyAll = 0.99;
  if (const double known = known_share_of(facts, rank); known < kNearlyAll) {
    finding.detail.form += " That is of the {} of the kernels' time for which the trace says so.";
    finding.detail.figures.push_back(share(known));
  }
  const std::string times = std::to_string(times_the_batch(facts, rank));
  constexpr double kWorthNaming = 0.01;  // of the step
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (!leaves_empty(facts, line) || finding.evidence.size() == kMostEvidence) continue;
    const double own = line.number("sum_ns") * kernel_share_of_step(facts, rank);
    if (own < kWorthNaming * rank.step_ns && !finding.evidence.empty()) continue;
    finding.evidence.push_back({.text = {"{}: {} per step, {} blocks for each multiprocessor",
                                         {kernel(line.text("name")),
                                          nanos(own),
                                          {line.number("blocks_per_sm"), base::Unit::kNone}}},
                                .rank = rank.rank});
  }
  finding.changes = {
      {"A larger batch, where memory allows it" + std::string(after_larger_batch(facts)) +
           ": so many times as large fills the GPU.",
       facts.by_framework(
           "loader = DataLoader(dataset, batch_size=" + times + " * batch_size, ...)",
           "DataLoader(self.dataset, batch_size=" + times + " * batch_size, ...)",
           "TrainingArguments(..., per_device_train_batch_size=" + times + " * batch_size)")}};
  if (!is_compiled(facts, rank.rank)) {
    finding.changes.push_back(
        {"Let the compiler fuse small kernels or choose others.",
         facts.by_framework("model = torch.compile(model, mode=\"max-autotune\")",
                            "model = torch.compile(model, mode=\"max-autotune\")  # before fit()",
                            "TrainingArguments(..., torch_compile=True, "
                            "torch_compile_mode=\"max-autotune\")")});
  }
  finding.verify =
      "Record again: `stepscope analyze kernels --columns name,sum_ns,share,blocks_per_sm "
      "new.json` shows more blocks_per_sm for the kernels that take the time, and samples per "
      "second have risen.";
  return {finding};
}

std::string why_not_low_occupancy(const Facts& facts) {
  const auto lines = facts.lines("kernels", "kernels");
  const bool known =
      std::ranges::any_of(lines, [](const Line& line) { return line.has_value("blocks_per_sm"); });
  return known ? std::string() : "The trace does not say how many blocks kernels start";
}

}  // namespace

const Rule kLowOccupancy{
    .id = "low-occupancy",
    .cause = "occupancy",
    .asks = "Do kernels that matter leave parts of the GPU empty?",
    .needs = kLowOccupancyNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_low_occupancy,
    .why_not = why_not_low_occupancy,
    .runs_dry = false,
};

}  // namespace stepscope::advice
