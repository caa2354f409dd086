// Memory timelines and statistics as text and JSON.
#include "report/info/memory_info.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "report/info/info_facts.h"
#include "report/info/info_text.h"
#include "report/info/notes.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using memory::kTimelineCategories;
using memory::TimelineCategory;
using memory::TimelinePoint;

base::Bytes total_of(const TimelinePoint& point) {
  base::Bytes sum = 0;
  for (const base::Bytes bytes : point.alive) sum += bytes;
  return sum;
}

std::string title(std::string_view what, const memory::Source& source, const Look& look) {
  return styled(fmt::format("{} {}", what, printable(base::name_of_input(source.path))),
                Style::kStrong, look) +
         "\n\n";
}

// What memory_summary's first rows say.
constexpr std::array kShownStats = {
    std::pair("allocated", "allocated_bytes.all"), std::pair("active", "active_bytes.all"),
    std::pair("requested", "requested_bytes.all"), std::pair("reserved", "reserved_bytes.all")};

}  // namespace

std::string timelines_text(std::span<const memory::Timeline> timelines, const Look& look) {
  std::string text;
  for (const memory::Timeline& timeline : timelines) {
    if (!text.empty()) text += '\n';
    text += title("memory timeline", timeline.source, look);
    std::vector<NamedText> lines = {{"file", timeline.source.format}};
    const std::string odd = notes_text(notes_of(timeline.log, timeline.source.path), "", look);
    if (timeline.points.empty()) {
      lines.push_back({"points", "none"});
      text += facts_text(lines, look) + odd;
      continue;
    }
    const auto peak = std::ranges::max_element(timeline.points, {}, total_of);
    const base::Nanos length = timeline.points.back().time - timeline.points.front().time;
    lines.push_back({"points", fmt::format("{} over {}", count_text(timeline.points.size()),
                                           duration_text(length))});
    std::string parts;
    for (std::size_t i = 0; i < kTimelineCategories; ++i) {
      if (peak->alive[i] == 0) continue;
      parts +=
          fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                      memory::name_of(static_cast<TimelineCategory>(i)), bytes_of(peak->alive[i]));
    }
    lines.push_back(
        {"peak", fmt::format("{} after {}: {}", bytes_of(total_of(*peak)),
                             duration_text(peak->time - timeline.points.front().time), parts)});
    text += facts_text(lines, look) + odd;
  }
  return text;
}

std::string stats_text(std::span<const memory::Stats> stats, const Look& look) {
  std::string text;
  for (const memory::Stats& one : stats) {
    if (!text.empty()) text += '\n';
    text += title("memory statistics", one.source, look);
    std::vector<NamedText> lines = {
        {"file", fmt::format("{}, {}", one.source.format, counted(one.values.size(), "value"))}};
    for (const auto& [label, key] : kShownStats) {
      const auto now = one.find(fmt::format("{}.current", key));
      const auto peak = one.find(fmt::format("{}.peak", key));
      if (now && peak) {
        lines.push_back(
            {label, fmt::format("{} now, {} at the peak", bytes_of(*now), bytes_of(*peak))});
      }
    }
    if (const auto count = one.find("num_ooms")) {
      lines.push_back({"out of memory", counted(static_cast<std::uint64_t>(*count), "time")});
    }
    text += facts_text(lines, look) + notes_text(notes_of(one.log, one.source.path), "", look);
  }
  return text;
}

std::string memory_text(const RecordedMemory& memory, const InfoTextOptions& options) {
  std::string text;
  for (const std::string& block :
       {snapshots_text(memory.snapshots, options), timelines_text(memory.timelines, options.look),
        stats_text(memory.stats, options.look)}) {
    if (!text.empty() && !block.empty()) text += '\n';
    text += block;
  }
  return text;
}

void write_timelines(JsonWriter& json, std::span<const memory::Timeline> timelines) {
  json.begin_list();
  for (const memory::Timeline& timeline : timelines) {
    json.begin_object();
    json.member("path", timeline.source.path);
    json.member("format", timeline.source.format);
    json.member("points", timeline.points.size());
    json.key("peak_bytes");
    const auto peak = std::ranges::max_element(timeline.points, {}, total_of);
    if (peak == timeline.points.end()) {
      json.null();
    } else {
      json.begin_object();
      json.member("all", total_of(*peak));
      for (std::size_t i = 0; i < kTimelineCategories; ++i) {
        json.member(memory::name_of(static_cast<TimelineCategory>(i)), peak->alive[i]);
      }
      json.end_object();
    }
    json.end_object();
  }
  json.end_list();
}

void write_stats(JsonWriter& json, std::span<const memory::Stats> stats) {
  json.begin_list();
  for (const memory::Stats& one : stats) {
    json.begin_object();
    json.member("path", one.source.path);
    json.key("values");
    json.begin_object();
    for (const auto& [key, value] : one.values) json.member(key, value);
    json.end_object();
    json.end_object();
  }
  json.end_list();
}

}  // namespace stepscope::report
