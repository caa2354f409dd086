// Reads the table `host-work` as rules about work of the host need it.
#include "advice/host_tasks.h"

#include "advice/rule.h"

namespace stepscope::advice {

TaskPerStep task_of(const Facts& facts, const RankSteps& rank, std::string_view task) {
  TaskPerStep out;
  for (const Line& line : facts.lines("host-work", "tasks", rank.rank)) {
    if (line.text("task") != task) continue;
    const auto steps = static_cast<double>(rank.steps);
    out.episodes = line.number("episodes") / steps;
    out.host_ns = line.number("host_ns") / steps;
    out.operators_ns = line.number("operators_ns") / steps;
    out.quiet_ns = line.number("quiet_ns") / steps;
    out.down = line.number("down") / steps;
    out.down_bytes = line.number("down_bytes") / steps;
    out.up = line.number("up") / steps;
    out.up_bytes = line.number("up_bytes") / steps;
    out.pageable_bytes = line.number("pageable_bytes") / steps;
    out.steps = line.whole("steps");
    out.longest_ns = line.number("longest_ns");
  }
  return out;
}

std::optional<TaskOperatorOfMost> longest_operator(const Facts& facts, const RankSteps& rank,
                                                   std::string_view task) {
  for (const Line& line : facts.lines("host-work", "operators", rank.rank)) {
    if (line.text("task") != task) continue;
    const auto steps = static_cast<double>(rank.steps);
    return TaskOperatorOfMost{std::string(line.text("op")), std::string(line.text("purpose")),
                              line.number("calls") / steps, line.number("sum_ns") / steps};
  }
  return std::nullopt;
}

void add_operators(Finding& finding, const Facts& facts, const RankSteps& rank,
                   std::string_view task) {
  for (const Line& line : facts.lines("host-work", "operators", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) break;
    if (line.text("task") != task) continue;
    const auto steps = static_cast<double>(rank.steps);
    Evidence evidence{.text = {"{}: {} per step on the CPU, in {} calls",
                               {line.text("op"), nanos(line.number("sum_ns") / steps),
                                count(line.number("calls") / steps)}},
                      .rank = rank.rank,
                      .window = line.whole("window")};
    if (line.whole("calls") == rank.steps) {
      evidence.text.form = "{}: {} per step on the CPU";
      evidence.text.figures.pop_back();
    }
    if (line.has_value("step")) evidence.step = line.whole("step");
    if (line.has_value("event")) evidence.event = line.whole("event");
    finding.evidence.push_back(std::move(evidence));
  }
}

void add_frames(Finding& finding, const Facts& facts, const RankSteps& rank,
                std::string_view sort) {
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") != sort || !line.has_value("frames")) continue;
    if (finding.evidence.size() == kMostEvidence) finding.evidence.pop_back();
    Evidence evidence{.text = {"called from {}", {line.text("frames")}}, .rank = rank.rank};
    if (line.has_value("step")) evidence.step = line.whole("step");
    if (line.has_value("event")) {
      evidence.window = line.whole("window");
      evidence.event = line.whole("event");
    }
    finding.evidence.push_back(std::move(evidence));
    return;
  }
}

}  // namespace stepscope::advice
