// The allocator holds memory that cannot be used, and another setting would need less.
#include <algorithm>
#include <array>
#include <optional>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kMemoryFragmentationNeeds = std::to_array<Need>(
    {{"memory-fragmentation", "moments"}, {"memory-fragmentation", "settings"}});

std::optional<Line> held_most(const Facts& facts, const Line& setting) {
  for (const Line& line : facts.lines("memory-fragmentation", "moments")) {
    if (line.text("moment") == "most reserved" && line.whole("rank") == setting.whole("rank") &&
        line.text("snapshot") == setting.text("snapshot") &&
        line.whole("device") == setting.whole("device")) {
      return line;
    }
  }
  return std::nullopt;
}

std::vector<Finding> judge_memory_fragmentation(const Facts& facts) {
  std::optional<Line> best;
  double most = 0;
  for (const Line& line : facts.lines("memory-fragmentation", "settings")) {
    // "as recorded" and bounds that no setting reaches are rows too.
    if (line.text("setting").find(':') == std::string_view::npos ||
        line.text("setting").starts_with("as recorded")) {
      continue;
    }
    if (line.number("failures") > 0 && line.number("saved_bytes") <= 0) continue;
    const double whole = line.number("peak_reserved_bytes") + line.number("saved_bytes");
    if (line.number("saved_bytes") < facts.threshold(kMemoryFragmentation.id, "least")) continue;
    if (whole <= 0 || line.number("saved_bytes") / whole <= most) continue;
    most = line.number("saved_bytes") / whole;
    best = line;
  }
  const auto level = facts.level(kMemoryFragmentation.id, most);
  if (!best || !level) return {};
  const auto held = held_most(facts, *best);
  Finding finding{
      .rule = kMemoryFragmentation.id, .cause = kMemoryFragmentation.cause, .level = *level};
  finding.ranks = {static_cast<std::int32_t>(best->whole("rank"))};
  finding.title = {"{} of the memory held is of no use: another allocator setting needs {} less",
                   {share(most), bytes(best->number("saved_bytes"))}};
  finding.measured = {"memory another setting would save, of the peak", most,
                      facts.threshold_of(kMemoryFragmentation.id, *level)};
  if (held) {
    finding.detail = {
        "When it first held the most ({}), {} of it was free, the largest piece {}: a segment just "
        "taken counts as free until it is used. The recorded requests, served again with {}, need "
        "{} at most.",
        {bytes(held->number("reserved_bytes")), bytes(held->number("unused_bytes")),
         bytes(held->number("largest_free_bytes")), best->text("setting"),
         bytes(best->number("peak_reserved_bytes"))}};
  }
  for (const Line& line : facts.lines("memory-fragmentation", "pinned-segments")) {
    if (finding.evidence.size() == kMostEvidence) break;
    finding.evidence.push_back(
        {.text = {"{} cannot be returned because of a block of {} from {}",
                  {bytes(line.number("free_bytes")), bytes(line.number("pin_bytes")),
                   line.has_value("where") ? line.text("where") : "an unknown place"}},
         .rank = static_cast<std::int32_t>(line.whole("rank"))});
  }
  finding.changes = {{"Set this before the program starts.",
                      "export PYTORCH_CUDA_ALLOC_CONF=" + std::string(best->text("setting"))}};
  finding.verify =
      "Record a snapshot again: `stepscope analyze memory-fragmentation new.json` shows less "
      "reserved at the peak.";
  finding.confidence = Confidence::kHigh;  // the replay reproduces the record before it forecasts
  return {finding};
}

}  // namespace

const Rule kMemoryFragmentation{
    .id = "memory-fragmentation",
    .cause = "fragmentation",
    .asks = "Does the allocator hold memory that is of no use?",
    .needs = kMemoryFragmentationNeeds,
    .wanted = Wanted::kSnapshot,
    .judge = judge_memory_fragmentation,
    .of_device = false,
};

}  // namespace stepscope::advice
