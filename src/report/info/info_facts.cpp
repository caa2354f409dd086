// Single facts of a run as short lines.
#include "report/info/info_facts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"
#include "trace/step_names.h"

namespace stepscope::report {
namespace {

constexpr std::string_view kDot = " · ";
constexpr std::size_t kMostNames = 6;

void append_fact(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += kDot;
  text += part;
}

// "a, b, c and 4 more"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNames, names.size()); ++i) {
    if (i > 0) text += ", ";
    text += printable(names[i]);
  }
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

// Rank numbers as ranges: "0–3, 7".
std::string rank_numbers(const RunInfo& info) {
  std::vector<std::string> ranges;
  std::optional<std::int32_t> first;
  std::int32_t last = 0;
  const auto flush = [&] {
    if (!first) return;
    ranges.push_back(*first == last ? std::to_string(last) : fmt::format("{}–{}", *first, last));
  };
  for (const WindowInfo& window : info.windows) {
    if (first && window.rank <= last + 1) {
      last = window.rank;
      continue;
    }
    flush();
    first = last = window.rank;
  }
  flush();
  return listed(ranges);
}

std::string run_line(const RunInfo& info) {
  std::string text = counted(info.ranks, "rank");
  const auto world =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, info.world_size.value_or(0)));
  if (info.ranks < world) {
    text = fmt::format("{} of {} ranks ({})", count_text(info.ranks), count_text(world),
                       rank_numbers(info));
  } else if (info.ranks == 1 && !info.windows.empty() && info.windows.front().rank != 0) {
    text = fmt::format("rank {}", info.windows.front().rank);
  }
  // Files of workers, where nothing was traced, are no windows of a trace.
  if (!info.stood_in && info.windows.size() > info.ranks) {
    append_fact(text, counted(info.windows.size(), "window"));
  }
  append_fact(text, listed(info.backends));
  if (!info.hosts.empty()) {
    append_fact(
        text, fmt::format("{} {}", info.hosts.size() == 1 ? "host" : "hosts", listed(info.hosts)));
  }
  return text;
}

std::string device_text(const DeviceInfo& device, const RunInfo& info) {
  std::string text = device.name.empty() ? "unnamed device" : printable(device.name);
  if (device.memory_bytes > 0) append_fact(text, bytes_text(device.memory_bytes));
  const bool amd = device.warp_size == 64 || device.name.starts_with("AMD");
  if (device.compute_major > 0) {
    // AMD's numbers are those of the architecture: gfx90a says 9.0, gfx942 says 9.4.
    append_fact(text,
                amd ? fmt::format("gfx{}{}x", device.compute_major, device.compute_minor)
                    : fmt::format("compute {}.{}", device.compute_major, device.compute_minor));
  }
  if (device.multiprocessors > 0) {
    append_fact(text, fmt::format("{} {}", device.multiprocessors, amd ? "CUs" : "SMs"));
  }
  if (device.visible > 1) {
    std::string visible = fmt::format("{} visible", device.visible);
    if (info.windows.size() == 1 && device.visible >= info.devices.size()) {
      visible += fmt::format(", {} used", info.windows.front().devices_used.size());
    }
    append_fact(text, visible);
  }
  return text;
}

// Devices of one model differ by a few megabytes of memory, which does not matter here.
std::vector<DeviceInfo> alike_merged(const std::vector<DeviceInfo>& devices) {
  std::vector<DeviceInfo> merged;
  for (const DeviceInfo& device : devices) {
    const auto found = std::ranges::find_if(merged, [&](const DeviceInfo& other) {
      return other.name == device.name && other.multiprocessors == device.multiprocessors &&
             bytes_text(other.memory_bytes) == bytes_text(device.memory_bytes);
    });
    if (found == merged.end()) {
      merged.push_back(device);
    } else {
      found->visible += device.visible;
    }
  }
  return merged;
}

std::string steps_line(const RunInfo& info) {
  const StepInfo& steps = info.steps;
  std::string text = step_count_text(info);
  if (text.empty()) {
    return "none marked: the whole recording counts as one (--steps PATTERN names them)";
  }
  if (steps.count == 0) return "none whole: the recording ended within its first one";
  switch (steps.source) {
    case trace::StepSource::kProfilerStep:
      append_fact(text, trace::step_name(steps.first));
      if (steps.last != steps.first) text += fmt::format(" to #{}", steps.last);
      break;
    case trace::StepSource::kPattern:
      append_fact(text, "found by --steps");
      break;
    case trace::StepSource::kLightning:
      append_fact(text, "Lightning's batches");
      break;
    case trace::StepSource::kRepetition:
      append_fact(text, "a guess: what repeats on the device");
      break;
    case trace::StepSource::kWhole:
      break;
  }
  if (steps.count == 1) {
    append_fact(text, duration_text(steps.total_ns));
  } else {
    append_fact(text, fmt::format("mean {} on the host", duration_text(steps.mean_ns())));
    append_fact(text, fmt::format("{} to {}", duration_text(steps.shortest_ns),
                                  duration_text(steps.longest_ns)));
  }
  if (steps.is_guessed() && steps.recorded_ns > 0) {
    append_fact(text, fmt::format("{} of the recording left out",
                                  percent_text(static_cast<std::uint64_t>(steps.outside_ns),
                                               static_cast<std::uint64_t>(steps.recorded_ns))));
  }
  return text;
}

// From the first moment of any file to the last, by the clock of the wall.
std::pair<std::int64_t, std::int64_t> recorded_between(const RunInfo& info) {
  std::int64_t start = info.start_unix_ns;
  std::int64_t end = info.end_unix_ns;
  for (const RecordingInfo& recording : info.recordings) {
    start = std::min(start, recording.start_unix_ns);
    end = std::max(end, recording.start_unix_ns + recording.length_ns);
  }
  return {start, end};
}

std::string recorded_text(const RunInfo& info) {
  if (info.events == 0 && info.recordings.empty()) return "nothing: there are no events";
  const auto [start, end] = recorded_between(info);
  std::string text = info.start_known ? unix_time_text(start) : std::string();
  append_fact(text, duration_text(recorded_length(info)));
  if (!info.recorded_with.empty())
    append_fact(text, fmt::format("with {}", listed(info.recorded_with)));
  return text;
}

std::string traces_text(const RunInfo& info) {
  std::set<std::string> encodings;
  for (const WindowInfo& window : info.windows) encodings.insert(window.source.encoding);
  if (encodings == std::set<std::string>{"plain"}) {
    return fmt::format("{} of JSON", bytes_text(info.text_bytes));
  }
  std::string names;
  for (const std::string& encoding : encodings) names += fmt::format(" {}", encoding);
  return fmt::format("{}{}{}{} of JSON", bytes_text(info.file_bytes), names, kDot,
                     bytes_text(info.text_bytes));
}

std::string files_text(const RunInfo& info) {
  std::uint64_t recorded = 0;
  for (const RecordingInfo& recording : info.recordings) recorded += recording.file_bytes;
  std::string recordings = fmt::format("{} of recordings", bytes_text(recorded));
  if (info.stood_in) return recordings;
  std::string text = traces_text(info);
  if (!info.recordings.empty()) append_fact(text, recordings);
  return text;
}

std::string load_text(const RunInfo& info, double seconds) {
  std::string text = duration_text(static_cast<base::Nanos>(seconds * 1e9));
  append_fact(text, rate_text(static_cast<double>(info.text_bytes) / std::max(seconds, 1e-9)));
  if (info.entries > 0) {
    // Of the file: arrows and labels take memory too.
    append_fact(text, fmt::format("{} in memory, {} bytes per event", bytes_text(info.memory_bytes),
                                  info.memory_bytes / info.entries));
  }
  return text;
}

}  // namespace

std::string step_count_text(const RunInfo& info) {
  const StepInfo& steps = info.steps;
  if (info.windows.empty() || steps.source == trace::StepSource::kWhole) return {};
  const std::uint64_t per_window = info.windows.front().steps.count;
  const bool same = std::ranges::all_of(info.windows, [&](const WindowInfo& window) {
    return window.steps.count == per_window && window.steps.source == steps.source;
  });
  if (info.windows.size() == 1) return count_text(steps.count);
  if (!same && steps.others > 0) {
    return fmt::format("{} in all; {} found otherwise are left out", count_text(steps.count),
                       count_text(steps.others));
  }
  if (!same) return fmt::format("{} in all", count_text(steps.count));
  return fmt::format("{} {}", per_window,
                     info.windows.size() == info.ranks ? "on each rank" : "in each window");
}

base::Nanos recorded_length(const RunInfo& info) {
  if (info.start_known) {
    const auto [start, end] = recorded_between(info);
    return end - start;
  }
  base::Nanos length = 0;
  for (const WindowInfo& window : info.windows) length = std::max(length, window.span_ns);
  return length;
}

std::string common_folder(const RunInfo& info) {
  const std::vector<std::string_view> paths = paths_of(info);
  if (paths.empty()) return {};
  std::string_view common = paths.front();
  const auto keep = [&](std::string_view path) {
    const std::size_t length = std::min(common.size(), path.size());
    const auto differ = std::mismatch(
        common.begin(), common.begin() + static_cast<std::ptrdiff_t>(length), path.begin());
    common = common.substr(0, static_cast<std::size_t>(differ.first - common.begin()));
  };
  for (const std::string_view path : paths) keep(path);
  const std::size_t slash = common.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(common.substr(0, slash + 1));
}

std::string common_ending(const RunInfo& info) {
  for (const std::string_view ending : {".pt.trace.json.gz", ".pt.trace.json.zst", ".pt.trace.json",
                                        ".json.gz", ".json.zst", ".json"}) {
    const bool all = std::ranges::all_of(info.windows, [&](const WindowInfo& window) {
      return window.source.path.ends_with(ending);
    });
    if (all) return std::string(ending);
  }
  return {};
}

std::string title_of(const RunInfo& info) {
  const std::vector<std::string_view> paths = paths_of(info);
  if (paths.size() == 1) return printable(base::name_of_input(paths.front()));
  const std::string folder = common_folder(info);
  std::string title = counted(paths.size(), "file");
  if (!folder.empty()) title = printable(folder) + std::string(kDot) + title;
  return title;
}

std::vector<NamedText> run_facts(const RunInfo& info, std::optional<double> load_seconds) {
  std::vector<NamedText> facts = {{"Run", run_line(info)}};
  for (const NoteInfoRow& row : info.notes) {
    if (row.note != base::Note::kRanksApart) continue;
    facts.push_back({"", "separate runs, most likely: " + printable(row.detail)});
  }
  bool first = true;
  for (const DeviceInfo& device : alike_merged(info.devices)) {
    facts.push_back({first ? "Device" : "", device_text(device, info)});
    first = false;
  }
  if (!info.versions.empty()) {
    std::string text;
    for (const NamedText& version : info.versions) {
      append_fact(text, version.name + " " + printable(version.text));
    }
    facts.push_back({"Software", text});
  }
  facts.push_back({"Recorded", recorded_text(info)});
  // What was recorded has its steps below.
  if (info.events > 0 && !info.stood_in) {
    facts.push_back({info.recordings.empty() ? "Steps" : "Traced steps", steps_line(info)});
  }
  facts.push_back({"Size", files_text(info)});
  if (load_seconds) facts.push_back({"Loaded", load_text(info, *load_seconds)});
  return facts;
}

std::vector<NamedText> content_facts(const RunInfo& info) {
  std::vector<NamedText> facts;
  const CollectiveInfo& collectives = info.collectives;
  if (collectives.calls + collectives.kernels > 0) {
    std::string text;
    if (collectives.calls > 0) append_fact(text, counted(collectives.calls, "call"));
    if (collectives.kernels > 0) append_fact(text, counted(collectives.kernels, "kernel"));
    if (!collectives.groups.empty()) append_fact(text, counted(collectives.groups.size(), "group"));
    std::vector<std::string> names;
    names.reserve(collectives.by_name.size());
    for (const NamedCount& row : collectives.by_name) {
      names.push_back(row.name + " " + count_text(row.count));
    }
    append_fact(text, listed(names));
    facts.push_back({"Collectives", text});
  }
  if (info.memory.events > 0) {
    std::string text = counted(info.memory.events, "event");
    if (info.memory.device_peak_allocated > 0) {
      append_fact(text, fmt::format("device peak {} allocated, {} reserved",
                                    bytes_text(info.memory.device_peak_allocated),
                                    bytes_text(info.memory.device_peak_reserved)));
    }
    constexpr std::uint64_t kWorthSaying = 1 << 20;  // the host's totals are often not kept
    if (info.memory.host_peak_allocated >= kWorthSaying) {
      append_fact(text, fmt::format("host peak {}", bytes_text(info.memory.host_peak_allocated)));
    }
    facts.push_back({"Memory", text});
  }
  if (info.counter_samples > 0) {
    std::string text = counted(info.counter_samples, "sample");
    append_fact(text, fmt::format("{} series: {}", info.counter_series.size(),
                                  listed(info.counter_series)));
    facts.push_back({"Counters", text});
  }
  if (info.flows > 0) facts.push_back({"Flows", counted(info.flows, "event")});
  return facts;
}

std::string facts_text(const std::vector<NamedText>& facts, const Look& look) {
  std::size_t widest = 0;
  for (const NamedText& fact : facts) widest = std::max(widest, text_width(fact.name));
  std::string text;
  const std::size_t indent = 2 + widest + 2;
  for (const NamedText& fact : facts) {
    const std::size_t room = look.width > indent + 20 ? look.width - indent : 0;
    bool first = true;
    for (const std::string& line : wrapped(fact.text, room)) {
      const std::string label = first ? fact.name : std::string();
      const std::string space(widest - text_width(label) + 2, ' ');
      text += fmt::format("  {}{}{}\n", styled(label, Style::kFaint, look), space, line);
      first = false;
    }
  }
  return text;
}

}  // namespace stepscope::report
