// The summary of a run as JSON.
#include <algorithm>

#include <fmt/format.h>

#include "report/info/info_text.h"
#include "report/info/memory_info.h"
#include "report/info/notes.h"
#include "report/info/rank_records.h"
#include "report/info/recording_info.h"
#include "report/writing/json_writer.h"

namespace stepscope::report {
namespace {

void write_steps(JsonWriter& json, const StepInfo& steps) {
  json.begin_object();
  json.member("source", trace::name_of(steps.source));
  json.member("count", steps.count);
  json.member("first", steps.first);
  json.member("last", steps.last);
  json.member("mean_ns", steps.mean_ns());
  json.member("shortest_ns", steps.shortest_ns);
  json.member("longest_ns", steps.longest_ns);
  json.member("others", steps.others);
  json.member("guessed", steps.is_guessed());
  json.key("left_out_share");
  if (steps.count > 0 && steps.recorded_ns > 0) {
    json.value(static_cast<double>(steps.outside_ns) / static_cast<double>(steps.recorded_ns));
  } else {
    json.null();
  }
  json.end_object();
}

void write_links(JsonWriter& json, const LinkInfo& links) {
  json.begin_object();
  json.member("device_work", links.device_work);
  json.member("device_work_with_launch", links.with_launch);
  json.member("launches", links.launches);
  json.member("launches_with_operator", links.with_operator);
  json.member("backward_operators", links.backward);
  json.member("backward_operators_with_forward", links.with_forward);
  json.end_object();
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_list();
  for (const std::string& text : texts) json.value(text);
  json.end_list();
}

void write_window(JsonWriter& json, const WindowInfo& window, bool timing) {
  json.begin_object();
  json.member("rank", window.rank);
  json.member("window", window.window);
  json.member("path", window.source.path);
  json.member("encoding", window.source.encoding);
  json.member("file_bytes", window.source.file_bytes);
  json.member("text_bytes", window.source.text_bytes);
  json.key("host");
  window.host.empty() ? json.null() : json.value(window.host);
  json.key("start_unix_ns");
  window.start_known ? json.value(window.start_unix_ns) : json.null();
  json.member("span_ns", window.span_ns);
  json.member("entries", window.entries);
  json.member("events", window.events);
  json.member("device_work", window.device_work);
  json.key("devices_used");
  json.begin_list();
  for (const std::int32_t device : window.devices_used) json.value(device);
  json.end_list();
  json.key("steps");
  write_steps(json, window.steps);
  json.key("links");
  write_links(json, window.links);
  if (timing) json.member("memory_bytes", window.memory_bytes);
  json.end_object();
}

// None of these can be 0: nothing said how much it is.
template <class Count>
void write_if_known(JsonWriter& json, std::string_view name, Count count) {
  json.key(name);
  if (count > 0) {
    json.value(count);
  } else {
    json.null();
  }
}

void write_devices(JsonWriter& json, const std::vector<DeviceInfo>& devices) {
  json.begin_list();
  for (const DeviceInfo& device : devices) {
    json.begin_object();
    json.member("name", device.name);
    write_if_known(json, "memory_bytes", device.memory_bytes);
    json.key("compute_capability");
    if (device.compute_major > 0) {
      json.value(fmt::format("{}.{}", device.compute_major, device.compute_minor));
    } else {
      json.null();
    }
    write_if_known(json, "multiprocessors", device.multiprocessors);
    write_if_known(json, "warp_size", device.warp_size);
    json.member("visible", device.visible);
    json.end_object();
  }
  json.end_list();
}

void write_categories(JsonWriter& json, const std::vector<CategoryInfo>& categories) {
  json.begin_list();
  for (const CategoryInfo& category : categories) {
    json.begin_object();
    json.member("category", category.category);
    json.member("kind", trace::name_of(category.kind));
    json.member("device_work", trace::is_device_work(category.kind));
    json.member("events", category.events);
    json.member("tracks", category.tracks);
    json.member("covered_ns", category.covered_ns);
    json.end_object();
  }
  json.end_list();
}

// What the training processes recorded of themselves all along, beside their traces.
void write_recording(JsonWriter& json, const RunInfo& info) {
  if (info.recordings.empty()) return json.null();
  std::int64_t start = info.start_known ? info.start_unix_ns : info.recordings[0].start_unix_ns;
  std::int64_t end = info.start_known ? info.end_unix_ns : start;
  std::uint64_t steps = 0;
  for (const RecordingInfo& recording : info.recordings) {
    start = std::min(start, recording.start_unix_ns);
    end = std::max(end, recording.start_unix_ns + recording.length_ns);
    if (!recording.is_worker) steps = std::max(steps, recording.steps.count);
  }
  json.begin_object();
  json.member("start_unix_ns", start);
  json.member("span_ns", end - start);
  json.member("steps", steps);
  json.end_object();
}

void write_run(JsonWriter& json, const RunInfo& info) {
  json.begin_object();
  json.member("ranks", info.ranks);
  json.member("windows", info.windows.size());
  json.key("world_size");
  info.world_size ? json.value(*info.world_size) : json.null();
  json.key("hosts");
  write_texts(json, info.hosts);
  json.key("backends");
  write_texts(json, info.backends);
  json.key("start_unix_ns");
  info.start_known ? json.value(info.start_unix_ns) : json.null();
  json.key("span_ns");
  if (info.start_known) {
    json.value(info.end_unix_ns - info.start_unix_ns);
  } else if (info.windows.size() == 1) {
    json.value(info.windows.front().span_ns);
  } else {
    json.null();  // when they began is not known, so that neither is what lies between
  }
  json.member("file_bytes", info.file_bytes);
  json.member("text_bytes", info.text_bytes);
  json.member("entries", info.entries);
  json.member("events", info.events);
  json.member("device_work", info.device_work);
  json.member("flow_events", info.flows);
  json.member("lost_data", info.lost_data);
  json.key("recording");
  write_recording(json, info);
  json.end_object();
}

void write_contents(JsonWriter& json, const RunInfo& info) {
  json.key("collectives");
  json.begin_object();
  json.member("calls", info.collectives.calls);
  json.member("kernels", info.collectives.kernels);
  json.key("by_name");
  json.begin_object();
  for (const NamedCount& row : info.collectives.by_name) json.member(row.name, row.count);
  json.end_object();
  json.key("groups");
  write_texts(json, info.collectives.groups);
  json.end_object();

  json.key("memory_events");
  json.begin_object();
  json.member("events", info.memory.events);
  write_if_known(json, "device_peak_allocated_bytes", info.memory.device_peak_allocated);
  write_if_known(json, "device_peak_reserved_bytes", info.memory.device_peak_reserved);
  write_if_known(json, "host_peak_allocated_bytes", info.memory.host_peak_allocated);
  json.end_object();

  json.key("counters");
  json.begin_object();
  json.member("samples", info.counter_samples);
  json.key("series");
  write_texts(json, info.counter_series);
  json.end_object();
}

void write_files(JsonWriter& json, const RunInfo& info) {
  json.key("failures");
  json.begin_list();
  for (const trace::FileFailure& failure : info.failures) {
    json.begin_object();
    json.member("path", failure.path);
    json.member("error", failure.error.message);
    json.end_object();
  }
  json.end_list();
  json.key("skipped");
  json.begin_list();
  for (const trace::SkippedFile& file : info.skipped) {
    json.begin_object();
    json.member("path", file.path);
    json.member("why", file.why);
    json.end_object();
  }
  json.end_list();
}

}  // namespace

void write_info(JsonWriter& json, const RunInfo& info, std::optional<double> load_seconds) {
  json.key("run");
  write_run(json, info);
  json.key("devices");
  write_devices(json, info.devices);
  json.key("versions");
  json.begin_list();
  for (const NamedText& version : info.versions) {
    json.begin_object();
    json.member("name", version.name);
    json.member("version", version.text);
    json.end_object();
  }
  json.end_list();
  json.key("recorded_with");
  write_texts(json, info.recorded_with);
  json.key("steps");
  info.windows.empty() ? json.null() : write_steps(json, info.steps);
  json.key("categories");
  write_categories(json, info.categories);
  json.key("links");
  write_links(json, info.links);
  write_contents(json, info);
  json.key("windows");
  json.begin_list();
  for (const WindowInfo& window : info.windows) {
    write_window(json, window, load_seconds.has_value());
  }
  json.end_list();
  if (!info.recordings.empty()) {
    json.key("recordings");
    write_recordings(json, info);
    if (info.sampling_ns > 0) json.member("sampling_ns", info.sampling_ns);
  }
  if (!info.rank_records.empty()) {
    json.key("rank_records");
    write_rank_records(json, info);
  }
  if (!info.machines.empty()) {
    json.key("machines");
    write_machines(json, info.machines);
  }
  json.key("notes");
  write_notes(json, info.notes, true);
  write_files(json, info);
  if (load_seconds) {
    json.key("load");
    json.begin_object();
    json.member("seconds", *load_seconds);
    json.member("text_bytes_per_second", static_cast<double>(info.text_bytes) / *load_seconds);
    json.member("memory_bytes", info.memory_bytes);
    json.end_object();
  }
}

std::string info_json(const RunInfo& info, const RecordedMemory& memory,
                      std::optional<double> load_seconds) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.info/1");
  write_info(json, info, load_seconds);
  if (!memory.snapshots.empty()) {
    json.key("snapshots");
    write_snapshots(json, memory.snapshots, load_seconds.has_value());
  }
  if (!memory.timelines.empty()) {
    json.key("memory_timelines");
    write_timelines(json, memory.timelines);
  }
  if (!memory.stats.empty()) {
    json.key("memory_stats");
    write_stats(json, memory.stats);
  }
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
