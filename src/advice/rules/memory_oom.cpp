// A request for memory failed: why, and the cheapest change that would have made room.
#include <algorithm>
#include <array>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kMemoryOomNeeds = std::to_array<Need>({{"memory-oom", "headroom"}});

bool same_failure(const Line& a, const Line& b) {
  return a.whole("rank") == b.whole("rank") && a.text("snapshot") == b.text("snapshot") &&
         a.whole("device") == b.whole("device") && a.whole("failure") == b.whole("failure");
}

std::vector<Finding> judge_memory_oom(const Facts& facts) {
  const std::vector<Line> failures = facts.lines("memory-oom", "failures");
  if (failures.empty()) return {};
  const Line& first = failures.front();
  Finding finding{.rule = kMemoryOom.id, .cause = kMemoryOom.cause, .level = Level::kCritical};
  finding.title = {"A request for {} failed: out of memory", {bytes(first.number("asked_bytes"))}};
  finding.measured = {"missing for the request", first.number("short_by_bytes"), 0,
                      base::Unit::kBytes};
  finding.detail = {"At {}, with {} in use. It would have fitted with {} less in use.",
                    {first.has_value("where") ? first.text("where") : "an unknown place",
                     bytes(first.number("used_bytes")), bytes(first.number("short_by_bytes"))}};
  if (first.text("why") == "own limit") {
    finding.detail.form +=
        " The driver had {} free; the process has a limit of its own, between {} and {}.";
    finding.detail.figures.push_back(bytes(first.number("driver_free_bytes")));
    finding.detail.figures.push_back(bytes(first.number("limit_at_least_bytes")));
    finding.detail.figures.push_back(bytes(first.number("limit_at_most_bytes")));
  }
  if (first.whole("in_pieces") != 0) {
    finding.detail.form += " {} was free, but in pieces that are too small.";
    finding.detail.figures.push_back(bytes(first.number("unusable_bytes")));
  }
  for (const Line& line : facts.lines("memory-oom", "alive")) {
    if (!same_failure(line, first) || finding.evidence.size() == kMostEvidence ||
        !line.has_value("where"))
      continue;
    finding.evidence.push_back(
        {.text = {"{} in use, {}, from {}",
                  {bytes(line.number("bytes")), line.text("category"), line.text("where")}},
         .rank = static_cast<std::int32_t>(line.whole("rank"))});
  }
  for (const Line& line : failures) {
    const auto rank = static_cast<std::int32_t>(line.whole("rank"));
    if (std::ranges::find(finding.ranks, rank) == finding.ranks.end())
      finding.ranks.push_back(rank);
  }
  for (const Line& line : facts.lines("memory-oom", "remedies")) {
    if (!same_failure(line, first) || finding.changes.size() == 3) continue;
    if (line.text("enough") == "no") continue;
    std::string why(line.text("way"));
    why += line.text("enough") == "yes" ? " (enough on its own)" : " (perhaps enough)";
    why += ": " + std::string(line.text("how")) + ".";
    finding.changes.push_back({std::move(why), {}});
  }
  if (finding.changes.empty()) {
    finding.changes = {
        {"No single change that could be tried on the recording is enough: combine them. Halve the "
         "batch, and compute activations again in the backward pass instead of keeping them.",
         facts.by_framework(
             "x = checkpoint(block, x, use_reentrant=False)  # in forward(), for every block",
             "x = checkpoint(block, x, use_reentrant=False)  # in forward(), for every block",
             "TrainingArguments(..., gradient_checkpointing=True, "
             "per_device_train_batch_size=batch_size // 2)")}};
  }
  finding.verify =
      "Run again past the step at which it failed; `stepscope memory` on a snapshot of "
      "it shows how much is left.";
  finding.confidence = Confidence::kHigh;
  return {finding};
}

}  // namespace

const Rule kMemoryOom{
    .id = "memory-oom",
    .cause = "memory",
    .asks = "Why did a request for memory fail?",
    .needs = kMemoryOomNeeds,
    .wanted = Wanted::kSnapshot,
    .judge = judge_memory_oom,
    .of_device = false,
};

}  // namespace stepscope::advice
