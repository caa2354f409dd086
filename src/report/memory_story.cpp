#include "report/memory_story.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "report/cell_text.h"
#include "report/numbers.h"

namespace stepscope::report {
namespace {

// A row of one device of one snapshot.
class Line {
 public:
  Line(const base::Table& table, std::size_t row) : table_(&table), row_(row) {}

  bool has(std::string_view column) const {
    const auto found = table_->find(column);
    return found && !table_->is_null(*found, row_);
  }
  std::string text(std::string_view column) const {
    return has(column) ? cell_text(*table_, *table_->find(column), row_) : std::string();
  }
  double number(std::string_view column) const {
    return has(column) ? table_->real_at(*table_->find(column), row_) : 0;
  }

 private:
  const base::Table* table_;
  std::size_t row_;
};

struct Device {
  std::string snapshot, device;
  bool operator==(const Device&) const = default;
};

Device device_of(const Line& line) { return {line.text("snapshot"), line.text("device")}; }

std::vector<Line> lines_of(const Answers& findings, std::string_view analysis,
                           std::string_view table, const Device& device) {
  std::vector<Line> lines;
  const base::Table* found = findings.table(analysis, table);
  for (std::size_t r = 0; found != nullptr && r < found->rows(); ++r) {
    if (const Line line(*found, r); device_of(line) == device) lines.push_back(line);
  }
  return lines;
}

std::string peak_text(const Answers& findings, const Device& device) {
  const auto peak = lines_of(findings, "memory-peak", "peak", device);
  if (peak.empty()) return {};
  const Line& at = peak.front();
  std::string text = fmt::format("At most {} were allocated", at.text("bytes"));
  if (at.has("at_ns")) text += fmt::format(", {} into the history", at.text("at_ns"));
  if (at.has("pass")) text += fmt::format(", in the {} pass", at.text("pass"));
  if (at.has("step")) text += fmt::format(" of step {}", at.text("step"));
  std::string held;
  for (const Line& line : lines_of(findings, "memory-peak", "categories", device)) {
    if (line.number("share") < 0.1) continue;
    held +=
        fmt::format("{}{} {}", held.empty() ? "" : ", ", line.text("category"), line.text("share"));
  }
  if (!held.empty()) text += ": " + held;
  if (at.has("last_where")) {
    const bool failed = !lines_of(findings, "memory-oom", "failures", device).empty();
    text += fmt::format(". {} {}", failed ? "The last straw were" : "It was reached by",
                        at.text("last_bytes"));
    if (at.has("last_stack")) text += fmt::format(" at {}", at.text("last_where"));
  }
  return text + ". ";
}

// What stays, and what a pass adds.
std::string shape_text(const Answers& findings, const Device& device) {
  const auto shape = lines_of(findings, "memory-timeline", "shape", device);
  if (shape.empty()) return {};
  const Line& of = shape.front();
  std::string text;
  if (of.has("floor_bytes")) {
    text = fmt::format("From the first step on it never falls below {}", of.text("floor_bytes"));
  }
  const auto change = [&](std::string_view column, std::string_view pass) {
    if (!of.has(column)) return;
    const bool grows = of.number(column) >= 0;
    text += fmt::format("{} {} pass {} {}", text.empty() ? "A" : "; a", pass,
                        grows ? "adds" : "takes away",
                        bytes_text(static_cast<std::uint64_t>(std::abs(of.number(column)))));
  };
  change("forward_bytes", "forward");
  change("backward_bytes", "backward");
  return text.empty() ? text : text + ". ";
}

std::string failure_text(const Answers& findings, const Device& device) {
  const auto failures = lines_of(findings, "memory-oom", "failures", device);
  if (failures.empty()) return "No request failed. ";
  const Line& one = failures.front();
  const std::string where = one.text("where");
  std::string text = fmt::format(
      "It ran out of memory: {} asked for {}, {} were free at that moment but of no use to it, and "
      "{}. ",
      where.empty() ? "a call without a Python stack, as a backward pass makes them," : where,
      one.text("asked_bytes"), one.text("unusable_bytes"),
      one.text("why") == "own limit"
          ? fmt::format("the process had reached a limit of its own, between {} and {} "
                        "(torch.cuda.set_per_process_memory_fraction or "
                        "per_process_memory_fraction), while the driver had {} free",
                        one.text("limit_at_least_bytes"), one.text("limit_at_most_bytes"),
                        one.text("driver_free_bytes"))
          : fmt::format("the device had only {} left", one.text("driver_free_bytes")));
  const auto ways = lines_of(findings, "memory-oom", "ways-out", device);
  if (!ways.empty() && ways.front().text("enough") != "no") {
    text += fmt::format("The cheapest way out: {}{}. ", ways.front().text("way"),
                        ways.front().text("enough") == "perhaps" ? " (perhaps enough)" : "");
  }
  return text;
}

std::string leak_text(const Answers& findings, const Device& device) {
  const auto outlook = lines_of(findings, "memory-leaks", "outlook", device);
  const auto leaks = lines_of(findings, "memory-leaks", "leaks", device);
  if (leaks.empty()) {
    const bool can_tell = !outlook.empty() && outlook.front().number("steps") >= 2;
    return can_tell ? fmt::format("Nothing leaks in the {} steps between the first and the last. ",
                                  outlook.front().text("steps"))
                    : std::string();
  }
  const Line& worst = leaks.front();
  if (worst.text("confidence") == "low") return "Too few steps to tell whether it grows. ";
  std::string text = fmt::format(
      "It grows: {} leaves {} behind per step (confidence {})", worst.text("where"),
      worst.has("bytes_per_step") ? worst.text("bytes_per_step") : worst.text("leaked_bytes"),
      worst.text("confidence"));
  if (leaks.size() > 1) text += fmt::format(", and so do {} other places", leaks.size() - 1);
  if (!outlook.empty() && outlook.front().has("steps_until_full")) {
    text += fmt::format("; full in {} steps", outlook.front().text("steps_until_full"));
  }
  return text + ". ";
}

std::string waste_text(const Answers& findings, const Device& device) {
  const auto moments = lines_of(findings, "memory-fragmentation", "moments", device);
  if (moments.empty()) return {};
  const Line& most = moments.front();
  std::string text = fmt::format(
      "Of the {} held from the driver at most, {} ({}) were not in use when it first held that "
      "much",
      most.text("reserved_bytes"), most.text("unused_bytes"), most.text("unused_share"));
  const auto settings = lines_of(findings, "memory-fragmentation", "settings", device);
  // The first is the record, the last no setting; between them the best comes first.
  if (settings.size() > 2 &&
      settings[1].number("saved_bytes") > 0.02 * most.number("reserved_bytes")) {
    text += fmt::format("; {} would have needed {}", settings[1].text("setting"),
                        settings[1].text("peak_reserved_bytes"));
  }
  return text + ".";
}

}  // namespace

std::vector<NamedText> memory_story(const Answers& findings) {
  std::vector<NamedText> story;
  const base::Table* shapes = findings.table("memory-timeline", "shape");
  for (std::size_t r = 0; shapes != nullptr && r < shapes->rows(); ++r) {
    const Line line(*shapes, r);
    const Device device = device_of(line);
    if (!line.has("device")) {
      story.push_back({device.snapshot, fmt::format("At most {} were allocated, as torch's "
                                                    "profiler exported it.",
                                                    line.text("peak_bytes"))});
      continue;
    }
    story.push_back({fmt::format("{}, device {}", device.snapshot, device.device),
                     peak_text(findings, device) + shape_text(findings, device) +
                         failure_text(findings, device) + leak_text(findings, device) +
                         waste_text(findings, device)});
  }
  const base::Table* figures = findings.table("memory-summary", "devices");
  for (std::size_t r = 0; figures != nullptr && r < figures->rows(); ++r) {
    const Line line(*figures, r);
    if (line.has("device")) continue;
    story.push_back(
        {line.text("snapshot"),
         fmt::format("torch.cuda.memory_stats says: at most {} were allocated and {} held from the "
                     "driver.",
                     line.text("peak_bytes"), line.text("peak_reserved_bytes"))});
  }
  return story;
}

}  // namespace stepscope::report
