// Memory snapshots as text and JSON.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "report/info/info_facts.h"
#include "report/info/memory_info.h"
#include "report/info/notes.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using memory::Action;

constexpr std::size_t kActions = static_cast<std::size_t>(Action::kCount);

// What one allocator did, and holds at the end.
struct DeviceFacts {
  std::int32_t device = 0;
  bool is_host = false;
  std::uint64_t events = 0;
  std::array<std::uint64_t, kActions> by_action{};
  base::Nanos start = std::numeric_limits<base::Nanos>::max();
  base::Nanos end = memory::kNoTime;
  std::uint64_t segments = 0, blocks = 0, active_blocks = 0;
  base::Bytes total = 0, allocated = 0, active = 0, requested = 0;

  bool has_times() const { return end != memory::kNoTime; }
};

std::vector<DeviceFacts> devices_of(const memory::Snapshot& snapshot) {
  std::map<std::pair<bool, std::int32_t>, DeviceFacts> devices;
  const auto at = [&](bool is_host, std::int32_t device) -> DeviceFacts& {
    DeviceFacts& facts = devices[{is_host, device}];
    facts.device = device;
    facts.is_host = is_host;
    return facts;
  };
  for (const memory::History& history : snapshot.histories) {
    DeviceFacts& facts = at(history.is_host, history.device);
    facts.events += history.length();
    for (const Action action : history.action.span()) {
      ++facts.by_action[static_cast<std::size_t>(action)];
    }
    for (const base::Nanos time : history.time.span()) {
      if (time == memory::kNoTime) continue;
      facts.start = std::min(facts.start, time);
      facts.end = std::max(facts.end, time);
    }
  }
  for (const memory::Segment& segment : snapshot.segments) {
    DeviceFacts& facts = at(segment.is_host, segment.device);
    ++facts.segments;
    facts.blocks += segment.blocks;
    facts.total += segment.total;
    facts.allocated += segment.allocated;
    facts.active += segment.active;
    facts.requested += segment.requested;
    for (const memory::Block& block : snapshot.blocks_of(segment)) {
      facts.active_blocks += block.state != memory::BlockState::kInactive ? 1 : 0;
    }
  }
  std::vector<DeviceFacts> list;
  list.reserve(devices.size());
  for (auto& [key, facts] : devices) list.push_back(facts);
  return list;
}

std::string device_name(const DeviceFacts& facts) {
  return facts.is_host ? "pinned host memory" : fmt::format("device {}", facts.device);
}

std::string events_text(const DeviceFacts& facts) {
  if (facts.events == 0) return "no history was recorded";
  std::string kinds;
  for (std::size_t i = 0; i < kActions; ++i) {
    if (facts.by_action[i] == 0) continue;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count_text(facts.by_action[i]),
                         memory::name_of(static_cast<Action>(i)));
  }
  return fmt::format("{}: {}", counted(facts.events, "event"), kinds);
}

std::string settings_text(const memory::Settings& settings) {
  if (!settings.known) return "not recorded (torch before 2.2, or another writer)";
  std::string text =
      settings.conf.empty() ? "standard (no PYTORCH_CUDA_ALLOC_CONF)" : printable(settings.conf);
  if (settings.expandable_segments.value_or(false)) text += " · expandable segments";
  if (settings.max_split_size) {
    text += fmt::format(" · max split size {}", bytes_of(*settings.max_split_size));
  }
  if (settings.garbage_collection_threshold.value_or(0) > 0) {
    text += fmt::format(" · garbage collection from {:g}", *settings.garbage_collection_threshold);
  }
  return text;
}

std::string file_text(const memory::Source& source) {
  std::string text = fmt::format("{}, {}", source.format, bytes_text(source.data_bytes));
  if (source.encoding != "plain") {
    text += fmt::format(" in {} of {}", bytes_text(source.file_bytes), source.encoding);
  }
  return text;
}

void add_device(const DeviceFacts& facts, std::vector<NamedText>& lines) {
  lines.push_back({device_name(facts), events_text(facts)});
  if (facts.has_times()) {
    lines.push_back({"", fmt::format("from {}, {} long", unix_time_text(facts.start),
                                     duration_text(facts.end - facts.start))});
  } else if (facts.events > 0) {
    lines.push_back({"", "without times (torch before 2.2)"});
  }
  if (facts.segments == 0) return;
  lines.push_back(
      {"", fmt::format("at the end {} reserved in {}; {} allocated ({} requested) in {}",
                       bytes_of(facts.total), counted(facts.segments, "segment"),
                       bytes_of(facts.allocated), bytes_of(facts.requested),
                       counted(facts.active_blocks, "block"))});
}

std::string snapshot_text(const memory::Snapshot& snapshot, const Look& look) {
  std::vector<NamedText> lines;
  lines.push_back({"file", file_text(snapshot.source)});
  if (snapshot.rank) lines.push_back({"rank", fmt::format("{}", *snapshot.rank)});
  lines.push_back({"settings", settings_text(snapshot.settings)});
  for (const DeviceFacts& facts : devices_of(snapshot)) add_device(facts, lines);
  if (snapshot.settings.history_overflowed.value_or(false)) {
    lines.push_back({"history", "was longer than its limit: the oldest events were overwritten"});
  }
  const std::size_t stacks = snapshot.stacks.size();
  lines.push_back({"stacks", stacks == 0
                                 ? "none were recorded"
                                 : fmt::format("{} of {}", counted(stacks, "stack"),
                                               counted(snapshot.stacks.frames().size(), "frame"))});
  if (!snapshot.annotations.empty()) {
    lines.push_back({"annotations", fmt::format("{} begins and ends of named spans",
                                                count_text(snapshot.annotations.size()))});
  }
  if (snapshot.pools.size() > 1) {
    lines.push_back({"pools", fmt::format("{} private beside the common one",
                                          count_text(snapshot.pools.size() - 1))});
  }
  const std::string odd = notes_text(notes_of(snapshot.log, snapshot.source.path), "", look);
  return styled(fmt::format("memory snapshot {}",
                            printable(base::name_of_input(snapshot.source.path))),
                Style::kStrong, look) +
         "\n\n" + facts_text(lines, look) + (odd.empty() ? nothing_odd_text(look) : odd);
}

void write_device(JsonWriter& json, const DeviceFacts& facts) {
  json.begin_object();
  json.member("device", facts.device);
  json.member("host_memory", facts.is_host);
  json.member("events", facts.events);
  json.key("actions");
  json.begin_object();
  for (std::size_t i = 0; i < kActions; ++i) {
    if (facts.by_action[i] > 0) {
      json.member(memory::name_of(static_cast<Action>(i)), facts.by_action[i]);
    }
  }
  json.end_object();
  json.key("start_unix_ns");
  facts.has_times() ? json.value(facts.start) : json.null();
  json.key("end_unix_ns");
  facts.has_times() ? json.value(facts.end) : json.null();
  json.member("segments", facts.segments);
  json.member("blocks", facts.blocks);
  json.member("active_blocks", facts.active_blocks);
  json.member("reserved_bytes", facts.total);
  json.member("allocated_bytes", facts.allocated);
  json.member("active_bytes", facts.active);
  json.member("requested_bytes", facts.requested);
  json.end_object();
}

}  // namespace

std::string bytes_of(base::Bytes bytes) {
  return bytes < 0 ? fmt::format("-{}", bytes_text(static_cast<std::uint64_t>(-bytes)))
                   : bytes_text(static_cast<std::uint64_t>(bytes));
}

std::string snapshots_text(std::span<const memory::Snapshot> snapshots,
                           const InfoTextOptions& options) {
  std::string text;
  for (const memory::Snapshot& snapshot : snapshots) {
    if (!text.empty()) text += '\n';
    text += snapshot_text(snapshot, options.look);
  }
  return text;
}

void write_snapshots(JsonWriter& json, std::span<const memory::Snapshot> snapshots,
                     bool with_memory) {
  json.begin_list();
  for (const memory::Snapshot& snapshot : snapshots) {
    json.begin_object();
    json.member("path", snapshot.source.path);
    json.member("format", snapshot.source.format);
    json.member("encoding", snapshot.source.encoding);
    json.member("file_bytes", snapshot.source.file_bytes);
    json.member("text_bytes", snapshot.source.data_bytes);
    json.key("rank");
    snapshot.rank ? json.value(*snapshot.rank) : json.null();
    json.key("settings");
    json.begin_object();
    for (const auto& [key, value] : snapshot.settings.all) json.member(key, value);
    json.end_object();
    json.key("devices");
    json.begin_list();
    for (const DeviceFacts& facts : devices_of(snapshot)) write_device(json, facts);
    json.end_list();
    json.member("stacks", snapshot.stacks.size());
    json.member("frames", snapshot.stacks.frames().size());
    json.member("annotations", snapshot.annotations.size());
    json.member("private_pools", snapshot.pools.size() - 1);
    json.key("notes");
    write_notes(json, notes_of(snapshot.log, snapshot.source.path), false);
    if (with_memory) json.member("memory_bytes", snapshot.memory());
    json.end_object();
  }
  json.end_list();
}

}  // namespace stepscope::report
