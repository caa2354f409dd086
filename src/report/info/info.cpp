// Summarizes a run: ranks, windows, events, devices, notes.
#include "report/info/info.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "report/info/info_parts.h"
#include "report/info/notes.h"
#include "report/info/recording_info.h"

namespace stepscope::report {
namespace {

using base::Note;

// The most frequent first; the name decides between equals.
std::vector<NamedCount> by_count(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<NamedCount> rows;
  rows.reserve(counts.size());
  for (const auto& [name, count] : counts) rows.push_back({name.empty() ? "unnamed" : name, count});
  std::ranges::stable_sort(rows, std::greater(), &NamedCount::count);
  return rows;
}

void add_unique(std::set<std::string>& names, const std::string& name) {
  if (!name.empty()) names.insert(name);
}

void add_counters(const trace::Trace& trace, RunInfo& info, std::set<std::string>& series) {
  const trace::CounterTable& counters = trace.counters();
  std::set<std::pair<base::StringId, base::StringId>> seen;
  for (std::size_t i = 0; i < counters.row.size(); ++i) {
    if (trace.phase()[counters.row[i]] != trace::Phase::kCounter) continue;
    ++info.counter_samples;
    const base::StringId name = trace.name()[counters.row[i]];
    if (!seen.insert({name, counters.series[i]}).second) continue;
    series.insert(std::string(trace.text(name)) + " " +
                  std::string(trace.text(counters.series[i])));
  }
}

void add_notes(const base::ImportLog& log, const std::string& path,
               std::map<Note, NoteInfoRow>& notes) {
  for (const NoteInfoRow& found : notes_of(log, path)) {
    const auto [row, is_new] = notes.try_emplace(found.note, found);
    if (!is_new) row->second.count += found.count;
  }
}

void add_totals(const WindowInfo& window, RunInfo& info) {
  info.entries += window.entries;
  info.events += window.events;
  info.device_work += window.device_work;
  info.file_bytes += window.source.file_bytes;
  info.text_bytes += window.source.text_bytes;
  info.memory_bytes += window.memory_bytes;
  info.steps.add(window.steps);
  info.links.add(window.links);
  const std::int64_t end = window.start_unix_ns + window.span_ns;
  const bool first = info.windows.empty();
  info.start_unix_ns =
      first ? window.start_unix_ns : std::min(info.start_unix_ns, window.start_unix_ns);
  info.end_unix_ns = first ? end : std::max(info.end_unix_ns, end);
  info.start_known = (first || info.start_known) && window.start_known;
}

void add_header(const trace::Header& header, RunInfo& info, std::set<std::string>& hosts,
                std::set<std::string>& backends) {
  add_devices(header, info.devices);
  info.devices_listed = info.devices_listed || lists_devices(header);
  add_versions(header, info.versions);
  add_settings(header, info.recorded_with);
  add_unique(hosts, header.host);
  if (!header.distributed) return;
  add_unique(backends, header.distributed->backend);
  if (const auto size = header.distributed->world_size) {
    info.world_size = std::max(info.world_size.value_or(0), *size);
  }
}

}  // namespace

std::vector<std::string_view> paths_of(const RunInfo& info) {
  std::vector<std::string_view> paths;
  paths.reserve(info.windows.size() + info.recordings.size());
  for (const WindowInfo& window : info.windows) paths.push_back(window.source.path);
  if (info.stood_in) return paths;
  for (const RecordingInfo& recording : info.recordings) paths.push_back(recording.path);
  return paths;
}

void StepInfo::add(const StepInfo& other) {
  // What the user named is what the user wants; after that the sources are in order.
  const auto rank = [](trace::StepSource of) {
    return of == trace::StepSource::kPattern ? -1 : static_cast<int>(of);
  };
  if (other.count == 0) {
    if (count == 0 && rank(other.source) < rank(source)) source = other.source;
    return;
  }
  if (count > 0 && rank(other.source) > rank(source)) {
    others += other.count;
    return;
  }
  if (count == 0 || rank(other.source) < rank(source)) {
    const std::uint64_t left_out = others + count;
    *this = other;
    others = left_out;
    return;
  }
  first = std::min(first, other.first);
  last = std::max(last, other.last);
  shortest_ns = std::min(shortest_ns, other.shortest_ns);
  longest_ns = std::max(longest_ns, other.longest_ns);
  outside_ns += other.outside_ns;
  recorded_ns += other.recorded_ns;
  total_ns += other.total_ns;
  count += other.count;
}

void LinkInfo::add(const LinkInfo& other) {
  device_work += other.device_work;
  with_launch += other.with_launch;
  launches += other.launches;
  with_operator += other.with_operator;
  backward += other.backward;
  with_forward += other.with_forward;
}

void MemoryInfo::add(const MemoryInfo& other) {
  events += other.events;
  device_peak_allocated = std::max(device_peak_allocated, other.device_peak_allocated);
  device_peak_reserved = std::max(device_peak_reserved, other.device_peak_reserved);
  host_peak_allocated = std::max(host_peak_allocated, other.host_peak_allocated);
}

RunInfo summarize(const trace::Run& run, const RecordedMemory& memory,
                  std::span<const trace::RankRecord> rank_records,
                  std::span<const NotedFile> others) {
  RunInfo info;
  info.rank_records.assign(rank_records.begin(), rank_records.end());
  info.ranks = run.ranks.size();
  std::set<std::string> hosts;
  std::set<std::string> backends;
  std::set<std::string> series;
  CategoryTotals categories;
  CollectiveTotals collectives;
  std::map<Note, NoteInfoRow> notes;
  add_notes(run.log, "", notes);
  // Where nothing was traced, what processes recorded of themselves is shown as a trace is.
  info.stood_in = !trace::has_trace(run);
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::size_t i = 0; i < rank.windows.size(); ++i) {
      const trace::Window& window = rank.windows[i];
      const trace::Trace& trace = window.trace;
      if (trace.is_recording()) {
        info.recordings.push_back(recording_info(rank.rank.value, window));
        if (!info.stood_in) {
          add_header(trace.header(), info, hosts, backends);
          add_notes(trace.log(), window.source.path, notes);
          continue;
        }
      }
      WindowInfo facts = window_info(rank.rank.value, static_cast<std::uint32_t>(i), window);
      add_totals(facts, info);
      add_header(trace.header(), info, hosts, backends);
      add_categories(trace, categories);
      add_collectives(trace, collectives);
      add_counters(trace, info, series);
      add_notes(trace.log(), window.source.path, notes);
      info.memory.add(memory_info(trace.memory_events()));
      info.flows += trace.flows().size();
      info.windows.push_back(std::move(facts));
    }
  }
  info.hosts.assign(hosts.begin(), hosts.end());
  info.backends.assign(backends.begin(), backends.end());
  info.counter_series.assign(series.begin(), series.end());
  for (auto& [key, category] : categories) info.categories.push_back(std::move(category));
  std::ranges::stable_sort(info.categories, std::greater(), &CategoryInfo::events);
  for (const auto& [name, count] : collectives.calls) info.collectives.calls += count;
  for (const auto& [name, count] : collectives.kernels) info.collectives.kernels += count;
  info.collectives.by_name =
      by_count(collectives.calls.empty() ? collectives.kernels : collectives.calls);
  for (const auto& [name, count] : collectives.groups) info.collectives.groups.push_back(name);
  const auto add_files = [&](const auto& files) {
    for (const auto& file : files) add_notes(file.log, file.source.path, notes);
  };
  add_files(memory.snapshots);
  add_files(memory.timelines);
  add_files(memory.stats);
  for (const NotedFile& file : others) add_notes(*file.log, std::string(file.path), notes);
  for (auto& [note, row] : notes) info.notes.push_back(std::move(row));
  info.failures = run.failures;
  info.skipped = run.skipped;
  info.lost_data = std::ranges::any_of(info.notes, [](const NoteInfoRow& row) {
    return base::info_of(row.note).severity == base::Severity::kDataLoss;
  });
  return info;
}

std::optional<NoDeviceCause> cause_of_no_device_work(const RunInfo& info) {
  if (info.device_work > 0) return std::nullopt;
  bool from_pytorch = false;
  bool has_calls = false;
  for (const CategoryInfo& category : info.categories) {
    from_pytorch = from_pytorch || category.kind == trace::Kind::kCpuOp;
    has_calls = has_calls || trace::is_api_call(category.kind);
    // CUPTI's range profiler reports the work as ranges instead.
    if (category.kind == trace::Kind::kProfilerRange) return std::nullopt;
  }
  if (!has_calls && !from_pytorch) return std::nullopt;
  const auto end = std::ranges::find_if(
      info.notes, [](const NoteInfoRow& row) { return base::loses_the_end(row.note); });
  if (end != info.notes.end()) {
    return end->note == Note::kEndlessEvent ? NoDeviceCause::kEndless : NoDeviceCause::kCut;
  }
  if (has_calls) return NoDeviceCause::kCallsOnly;
  const bool none_seen = info.devices_listed && info.devices.empty();
  return none_seen ? NoDeviceCause::kNoDevice : NoDeviceCause::kHostOnly;
}

}  // namespace stepscope::report
