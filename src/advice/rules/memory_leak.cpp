// One place of the program leaks memory in step after step.
#include <algorithm>
#include <array>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kMemoryLeakNeeds = std::to_array<Need>({{"memory-leaks", "outlook"}});

Confidence confidence_of(std::string_view word) {
  if (word == "high") return Confidence::kHigh;
  return word == "medium" ? Confidence::kMedium : Confidence::kLow;
}

std::vector<Finding> judge_memory_leak(const Facts& facts) {
  const std::vector<Line> leaks = facts.lines("memory-leaks", "leaks");
  if (leaks.empty()) return {};
  const auto worst = std::ranges::max_element(
      leaks, {}, [](const Line& line) { return line.number("bytes_per_step"); });
  Finding finding{.rule = kMemoryLeak.id, .cause = kMemoryLeak.cause, .level = Level::kWarning};
  finding.confidence = confidence_of(worst->text("confidence"));
  double per_step = 0;
  double until_full = 0;
  for (const Line& line : facts.lines("memory-leaks", "outlook")) {
    if (line.number("bytes_per_step") < per_step) continue;
    per_step = line.number("bytes_per_step");
    until_full = line.has_value("steps_until_full") ? line.number("steps_until_full") : 0;
  }
  finding.title = {"Memory grows by {} per step and is never freed", {bytes(per_step)}};
  finding.detail = {
      "{} ({}) leaks in {} of {} steps; the first and "
      "the last cannot tell.",
      {worst->text("where"), worst->text("category"), count(worst->number("in_steps")),
       count(worst->number("of_steps"))}};
  const double soon = facts.threshold(kMemoryLeak.id, "critical_steps");
  finding.measured = {"memory leaked per step", per_step, 0, base::Unit::kBytes};
  if (until_full > 0) {
    finding.detail.form += " If it goes on, memory is full after {} more steps.";
    finding.detail.figures.push_back(count(until_full));
    if (until_full < soon) finding.level = Level::kCritical;
  }
  if (finding.confidence == Confidence::kLow) finding.level = Level::kNotice;
  for (const Line& line : leaks) {
    const auto rank = static_cast<std::int32_t>(line.whole("rank"));
    if (std::ranges::find(finding.ranks, rank) == finding.ranks.end())
      finding.ranks.push_back(rank);
    if (finding.evidence.size() == kMostEvidence) continue;
    finding.evidence.push_back({.text = {"{}: {} per step, {} so far",
                                         {line.text("where"), bytes(line.number("bytes_per_step")),
                                          bytes(line.number("leaked_bytes"))}},
                                .rank = rank});
  }
  finding.changes = {
      {"Keep what was computed for it out: a tensor that is kept keeps all of that, unless it is "
       "detached. Large ones are kept on the CPU, and rarely: .item() and .cpu() wait for the GPU.",
       facts.by_framework("history.append(loss.detach())   # not history.append(loss)",
                          "self.losses.append(loss.detach())   # not self.losses.append(loss)",
                          "# in a callback or compute_loss\nself.losses.append(loss.detach())")},
      {"The line is where the memory was allocated; it may be kept elsewhere. Follow what it "
       "computes to lists, dicts and hooks that live longer than a step, and clear them.",
       "self.outputs.clear()   # at the end of each step or epoch"}};
  finding.verify =
      "Record a snapshot again over ten steps: `stepscope memory` shows a level floor "
      "and no leak.";
  return {finding};
}

}  // namespace

const Rule kMemoryLeak{
    .id = "memory-leak",
    .cause = "leak",
    .asks = "Does memory grow from step to step?",
    .needs = kMemoryLeakNeeds,
    .wanted = Wanted::kSnapshot,
    .judge = judge_memory_leak,
    .of_device = false,
};

}  // namespace stepscope::advice
