// Convolutions in 16 bits over pictures that lie plane by plane: tensor cores read all values of a
// place together, so cuDNN turns every tensor round before a product and back after it.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "advice/host_stall.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kChannelsLastNeeds =
    std::to_array<Need>({{"steps", "times"}, {"kernels", "kernels"}, {"operators", "operators"}});
constexpr std::array<std::string_view, 3> kChannelsLastReads = {"autotuning", "launches", "stalls"};

bool turns_round(std::string_view kernel) {
  static constexpr std::array<std::string_view, 3> kTurns = {"nchwToNhwcKernel", "nhwcToNchwKernel",
                                                             "nchwToNhwcWithPaddingKernel"};
  return names_any(kernel, kTurns);
}

// Of which PyTorch has faster kernels for the other layout.
bool normalises_planes(std::string_view kernel) {
  return kernel.find("batch_norm_") != std::string_view::npos &&
         kernel.find("channels_last") == std::string_view::npos;
}

// PyTorch has these for planes only: they would turn round what convolutions no longer do. A U-Net
// with group norms took 43 ms a step for 33.
bool wants_planes(const Facts& facts, const RankSteps& rank) {
  static constexpr std::array<std::string_view, 3> kOnlyPlanes = {"group_norm", "instance_norm",
                                                                  "GroupNorm"};
  const auto lines = facts.lines("operators", "operators", rank.rank);
  return std::ranges::any_of(
      lines, [](const Line& line) { return names_any(line.text("name"), kOnlyPlanes); });
}

// In a step.
struct Turns {
  double ns = 0, count = 0;
  double norms_ns = 0;
};

Turns turns_of(const Facts& facts, const RankSteps& rank) {
  Turns out;
  if (wants_planes(facts, rank)) return out;
  const double of_step = kernel_share_of_step(facts, rank);
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (normalises_planes(line.text("name"))) out.norms_ns += line.number("sum_ns") * of_step;
    if (!turns_round(line.text("name"))) continue;
    out.ns += line.number("sum_ns") * of_step;
    out.count += line.number("count") * of_step;
  }
  out.ns = std::max(0.0, out.ns - tried_out_ns(facts, rank));
  return out;
}

std::vector<Finding> judge_channels_last(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kChannelsLast.id,
                                 [&](const RankSteps& rank) { return turns_of(facts, rank).ns; });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const Turns turns = turns_of(facts, rank);
  const double low = turns.ns * (1 - facts.threshold(kChannelsLast.id, "left"));
  const double high = turns.ns + turns.norms_ns / 2;
  Finding finding = begin_finding(facts, kChannelsLast, ranks, let_through_ns(facts, rank, low),
                                  most_let_through_ns(facts, rank, high));
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"Convolutions convert the memory order of images: {} of each step",
                   {share(ranks.front().share)}};
  finding.measured.name = "converting the memory order for convolutions, of the step";
  finding.detail = {
      "{} kernels per step only move values: PyTorch stores images one channel after the other "
      "(NCHW), tensor cores want all channels of a pixel together (NHWC, in PyTorch "
      "channels_last), so every convolution converts what it reads and back what it writes. A "
      "model and images stored that way from the start need none of it.",
      {count(std::round(turns.count))}};
  if (turns.norms_ns > 0) {
    finding.detail.form +=
        " Batch norms become faster, too: the larger gain counts half of the {} that theirs take.";
    finding.detail.figures.push_back(nanos(turns.norms_ns));
  }
  say_what_host_lets_through(finding, facts, rank, low, high);
  const double of_step = kernel_share_of_step(facts, rank);
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (!turns_round(line.text("name")) || finding.evidence.size() == kMostEvidence) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} per step, {} times",
                  {kernel(line.text("name")), nanos(line.number("sum_ns") * of_step),
                   count(std::round(line.number("count") * of_step))}},
         .rank = rank.rank});
  }
  constexpr std::string_view kCode =
      "model = model.to(memory_format=torch.channels_last)\n"
      "x = x.to(device, memory_format=torch.channels_last)  # every batch of images";
  finding.changes = {
      {"Two lines; results stay the same but for rounding. Code of your own that calls .view() or "
       ".contiguous() on images may convert them back: then there is no gain.",
       facts.by_framework(
           kCode,
           "model = model.to(memory_format=torch.channels_last)  # before fit()\n"
           "x = x.to(memory_format=torch.channels_last)  # first line of training_step()",
           "model = model.to(memory_format=torch.channels_last)  # before Trainer(...)\n"
           "x = x.to(memory_format=torch.channels_last)  # first line of the model's forward()")}};
  finding.verify =
      "Record again: `stepscope analyze kernels new.json` shows no nchwToNhwcKernel that takes "
      "time.";
  return {finding};
}

}  // namespace

const Rule kChannelsLast{
    .id = "channels-last",
    .cause = "layout",
    .asks = "Do convolutions convert the memory order of images?",
    .needs = kChannelsLastNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_channels_last,
    .reads = kChannelsLastReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
