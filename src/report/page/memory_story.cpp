// Tells what a memory snapshot holds in a few sentences.
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "base/table_line.h"
#include "report/page/page_facts.h"
#include "report/tables/cell_text.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

// Rows of one device of one snapshot.
using base::TableLine;

// The cell as tables show it; empty for null.
std::string shown(const TableLine& line, std::string_view column) {
  return line.has_value(column) ? cell_text(line.table(), *line.table().find(column), line.row())
                                : std::string();
}

struct Device {
  std::string snapshot, device;
  bool operator==(const Device&) const = default;
};

Device device_of(const TableLine& line) { return {shown(line, "snapshot"), shown(line, "device")}; }

std::vector<TableLine> memory_story_lines_of(const Answers& answers, std::string_view analysis,
                                             std::string_view table, const Device& device) {
  std::vector<TableLine> lines;
  const base::Table* found = answers.table(analysis, table);
  for (std::size_t r = 0; found != nullptr && r < found->rows(); ++r) {
    if (const TableLine line(*found, r); device_of(line) == device) lines.push_back(line);
  }
  return lines;
}

std::string peak_text(const Answers& answers, const Device& device) {
  const auto peak = memory_story_lines_of(answers, "memory-peak", "peak", device);
  if (peak.empty()) return {};
  const TableLine& at = peak.front();
  std::string text = fmt::format("At most {} were allocated", shown(at, "bytes"));
  if (at.has_value("at_ns")) text += fmt::format(", {} into the history", shown(at, "at_ns"));
  if (at.has_value("pass")) text += fmt::format(", in the {} pass", shown(at, "pass"));
  if (at.has_value("step")) text += fmt::format(" of step {}", shown(at, "step"));
  std::string held;
  for (const TableLine& line :
       memory_story_lines_of(answers, "memory-peak", "categories", device)) {
    if (line.number("share") < 0.1) continue;
    held += fmt::format("{}{} {}", held.empty() ? "" : ", ", shown(line, "category"),
                        shown(line, "share"));
  }
  if (!held.empty()) text += ": " + held;
  if (at.has_value("last_where")) {
    const bool failed = !memory_story_lines_of(answers, "memory-oom", "failures", device).empty();
    text += fmt::format(". {} {}", failed ? "The last straw were" : "It was reached by",
                        shown(at, "last_bytes"));
    if (at.has_value("last_stack")) text += fmt::format(" at {}", shown(at, "last_where"));
  }
  return text + ". ";
}

// What stays, and what a pass adds.
std::string shape_text(const Answers& answers, const Device& device) {
  const auto shape = memory_story_lines_of(answers, "memory-timeline", "shape", device);
  if (shape.empty()) return {};
  const TableLine& of = shape.front();
  std::string text;
  if (of.has_value("floor_bytes")) {
    text = fmt::format("From the first step on it never falls below {}", shown(of, "floor_bytes"));
  }
  const auto change = [&](std::string_view column, std::string_view pass) {
    if (!of.has_value(column)) return;
    const bool grows = of.number(column) >= 0;
    text += fmt::format("{} {} pass {} {}", text.empty() ? "A" : "; a", pass,
                        grows ? "adds" : "takes away",
                        bytes_text(static_cast<std::uint64_t>(std::abs(of.number(column)))));
  };
  change("forward_bytes", "forward");
  change("backward_bytes", "backward");
  return text.empty() ? text : text + ". ";
}

std::string failure_text(const Answers& answers, const Device& device) {
  const auto failures = memory_story_lines_of(answers, "memory-oom", "failures", device);
  if (failures.empty()) return "No request failed. ";
  const TableLine& one = failures.front();
  const std::string where = shown(one, "where");
  std::string text = fmt::format(
      "It ran out of memory: {} asked for {}, {} were free at that moment but of no use to it, and "
      "{}. ",
      where.empty() ? "a call without a Python stack, as a backward pass makes them," : where,
      shown(one, "asked_bytes"), shown(one, "unusable_bytes"),
      shown(one, "why") == "own limit"
          ? fmt::format("the process had reached a limit of its own, between {} and {} "
                        "(torch.cuda.set_per_process_memory_fraction or "
                        "per_process_memory_fraction), while the driver had {} free",
                        shown(one, "limit_at_least_bytes"), shown(one, "limit_at_most_bytes"),
                        shown(one, "driver_free_bytes"))
          : fmt::format("the device had only {} left", shown(one, "driver_free_bytes")));
  const auto ways = memory_story_lines_of(answers, "memory-oom", "remedies", device);
  if (!ways.empty() && shown(ways.front(), "enough") != "no") {
    text += fmt::format("The cheapest way out: {}{}. ", shown(ways.front(), "way"),
                        shown(ways.front(), "enough") == "perhaps" ? " (perhaps enough)" : "");
  }
  return text;
}

std::string leak_text(const Answers& answers, const Device& device) {
  const auto outlook = memory_story_lines_of(answers, "memory-leaks", "outlook", device);
  const auto leaks = memory_story_lines_of(answers, "memory-leaks", "leaks", device);
  if (leaks.empty()) {
    const bool can_tell = !outlook.empty() && outlook.front().number("steps") >= 2;
    return can_tell ? fmt::format("Nothing leaks in the {} steps between the first and the last. ",
                                  shown(outlook.front(), "steps"))
                    : std::string();
  }
  const TableLine& worst = leaks.front();
  if (shown(worst, "confidence") == "low") return "Too few steps to tell whether it grows. ";
  std::string text =
      fmt::format("It grows: {} leaks {} per step (confidence {})", shown(worst, "where"),
                  worst.has_value("bytes_per_step") ? shown(worst, "bytes_per_step")
                                                    : shown(worst, "leaked_bytes"),
                  shown(worst, "confidence"));
  if (leaks.size() > 1) text += fmt::format(", and so do {} other places", leaks.size() - 1);
  if (!outlook.empty() && outlook.front().has_value("steps_until_full")) {
    text += fmt::format("; full in {} steps", shown(outlook.front(), "steps_until_full"));
  }
  return text + ". ";
}

std::string waste_text(const Answers& answers, const Device& device) {
  const auto moments = memory_story_lines_of(answers, "memory-fragmentation", "moments", device);
  if (moments.empty()) return {};
  const TableLine& most = moments.front();
  std::string text = fmt::format(
      "Of the {} held from the driver at most, {} ({}) were not in use when it first held that "
      "much",
      shown(most, "reserved_bytes"), shown(most, "unused_bytes"), shown(most, "unused_share"));
  const auto settings = memory_story_lines_of(answers, "memory-fragmentation", "settings", device);
  // The first is the record, the last no setting; between them the best comes first.
  if (settings.size() > 2 &&
      settings[1].number("saved_bytes") > 0.02 * most.number("reserved_bytes")) {
    text += fmt::format("; {} would have needed {}", shown(settings[1], "setting"),
                        shown(settings[1], "peak_reserved_bytes"));
  }
  return text + ".";
}

}  // namespace

std::vector<NamedText> memory_story(const Answers& answers) {
  std::vector<NamedText> story;
  const base::Table* shapes = answers.table("memory-timeline", "shape");
  for (std::size_t r = 0; shapes != nullptr && r < shapes->rows(); ++r) {
    const TableLine line(*shapes, r);
    const Device device = device_of(line);
    const std::string_view name = base::name_of_input(device.snapshot);
    if (!line.has_value("device")) {
      story.push_back({std::string(name), fmt::format("At most {} were allocated, as torch's "
                                                      "profiler exported it.",
                                                      shown(line, "peak_bytes"))});
      continue;
    }
    story.push_back({fmt::format("{}, device {}", name, device.device),
                     peak_text(answers, device) + shape_text(answers, device) +
                         failure_text(answers, device) + leak_text(answers, device) +
                         waste_text(answers, device)});
  }
  const base::Table* figures = answers.table("memory-summary", "devices");
  for (std::size_t r = 0; figures != nullptr && r < figures->rows(); ++r) {
    const TableLine line(*figures, r);
    if (line.has_value("device")) continue;
    story.push_back(
        {std::string(base::name_of_input(shown(line, "snapshot"))),
         fmt::format("torch.cuda.memory_stats says: at most {} were allocated and {} held from the "
                     "driver.",
                     shown(line, "peak_bytes"), shown(line, "peak_reserved_bytes"))});
  }
  return story;
}

}  // namespace stepscope::report
