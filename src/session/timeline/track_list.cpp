// Collects the tracks of ranks and machines and names them.
#include "session/timeline/track_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "trace/process_record.h"

namespace stepscope::session {

namespace {

using base::Nanos;

std::string rank_group(std::int32_t rank) { return fmt::format("rank {}", rank); }

bool is_recording_in_track_list(const TimelineWindow& window) {
  return window.trace->header().process_record != nullptr;
}

}  // namespace

TimelineTrack& TrackList::track(const Order& order, const TimelineWindow& window, TrackKind kind) {
  const auto [found, fresh] = tracks_.try_emplace(order);
  TimelineTrack& track = found->second;
  if (fresh) {
    track.kind = kind;
    track.rank = window.rank;
    track.host = window.trace->header().host;
    track.group = rank_group(window.rank);
    track.first = window.first;
    track.last = window.last;
  }
  track.first = std::min(track.first, window.first);
  track.last = std::max(track.last, window.last);
  return track;
}

TimelineTrack& TrackList::device_track(const TimelineWindow& window, TrackKind kind,
                                       std::int32_t device, std::int64_t number,
                                       const std::string& name) {
  const int order = kind == TrackKind::kDeviceIdle ? 0 : kind == TrackKind::kDeviceStream ? 1 : 2;
  TimelineTrack& out =
      track({window.rank, kDeviceSection, device, order, number, name}, window, kind);
  out.device = device;
  out.group = fmt::format("{} · GPU {}", rank_group(window.rank), device);
  return out;
}

void TrackList::add_events(unsigned threads) {
  struct Piece {
    const TimelineWindow* window;
    const trace::Track* track;
    TrackLanes lanes = {};
  };
  std::vector<Piece> pieces;
  for (const TimelineWindow& window : timeline_->windows) {
    for (const trace::Track& track : window.trace->tracks()) pieces.push_back({&window, &track});
  }
  base::parallel_for(pieces.size(), threads, [&](std::size_t i) {
    pieces[i].lanes = lanes_of(*pieces[i].window->trace, *pieces[i].track);
  });
  for (Piece& piece : pieces) {
    if (piece.lanes.events == 0) continue;
    const TimelineWindow& window = *piece.window;
    const trace::Track& from = *piece.track;
    const bool main = from.pid && from.pid == from.tid;
    const bool recorded = is_recording_in_track_list(window);
    TimelineTrack& to =
        from.is_device
            ? device_track(window, TrackKind::kDeviceStream, from.device, from.stream, "")
            : track({window.rank, recorded ? kRecordedSection : kHostSection,
                     from.process_sort_index.value_or(0), main ? 0 : 1,
                     from.thread_sort_index.value_or(0),
                     fmt::format("{}\n{}", from.process, from.thread)},
                    window, recorded ? TrackKind::kRecorded : TrackKind::kHostThread);
    to.process = from.process;
    to.process_name = from.process_name;
    to.thread = from.thread;
    to.thread_name = from.thread_name;
    to.label = from.is_device ? fmt::format("stream {}", from.stream) : thread_label(window, from);
    if (from.is_device) to.stream = from.stream;
    to.events += piece.lanes.events;
    to.not_drawn += piece.lanes.not_drawn;
    to.depth = std::max(to.depth, static_cast<std::uint32_t>(piece.lanes.lanes.size()));
    TrackPart part;
    part.trace = window.trace;
    part.window = window.window;
    part.offset = window.offset;
    part.lanes = std::move(piece.lanes.lanes);
    to.parts.push_back(std::move(part));
  }
}

void TrackList::add_steps(const analysis::WindowView& view) {
  const TimelineWindow* window = window_of(view);
  if (!view.has_steps || window == nullptr) return;
  TrackPart part;
  part.own = std::make_unique<OwnEvents>();
  for (const analysis::StepTime& step : view.steps) {
    if (step.span.length() < 0) continue;
    part.own->add(step.span.start, step.span.length(), fmt::format("step {}", step.number),
                  static_cast<std::uint8_t>(trace::Kind::kAnnotation));
  }
  if (part.own->start.empty()) return;
  TimelineTrack& to = track({window->rank, kStepSection, 0, 0, 0, ""}, *window, TrackKind::kSteps);
  to.label = "steps";
  to.events += part.own->start.size();
  part.window = window->window;
  part.offset = window->offset;
  part.lanes.push_back(part.own->lane());
  to.parts.push_back(std::move(part));
}

void TrackList::add_log(const TimelineWindow& window) {
  const auto& record = window.trace->header().process_record;
  if (record == nullptr || record->log.empty()) return;
  TrackPart part;
  part.own = std::make_unique<OwnEvents>();
  part.own->numbered = true;
  for (const trace::LogEntry& line : record->log) {
    part.own->add(line.time, 0, line.text.empty() ? " " : line.text,
                  static_cast<std::uint8_t>(std::clamp(line.level / 10, 0, 255)));
  }
  // Threads log side by side: the file's order is nearly that of time, not quite.
  std::vector<std::uint32_t> items(record->log.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) items[i] = i;
  std::ranges::stable_sort(items, {}, [&](std::uint32_t i) { return part.own->start[i]; });
  const std::string process = record->pid ? std::to_string(*record->pid) : std::string();
  TimelineTrack& to = track({window.rank, kLogSection, record->is_worker ? 1 : 0, 0, 0, process},
                            window, TrackKind::kLog);
  to.process = process;
  to.label = log_label(window);
  to.events += record->log.size();
  part.window = window.window;
  part.offset = window.offset;
  part.lanes.emplace_back(part.own->start, part.own->duration, std::move(items));
  to.parts.push_back(std::move(part));
}

base::Result<TrackList> TrackList::prepare(const Timeline& timeline, const OpenedRun& recording,
                                           const Study& study, unsigned threads) {
  TrackList list(timeline);
  list.add_events(threads);
  for (const analysis::WindowView& window : study.view().windows) list.add_steps(window);
  list.add_gaps(study.view(), threads);
  for (const TimelineWindow& window : timeline.windows) {
    list.add_log(window);
    list.add_recorded_counters(window);
  }
  list.add_sampled(study.view());
  SCOPE_TRY(list.add_computed_counters(recording, study));
  return list;
}

std::vector<TimelineTrack> TrackList::take() && {
  std::vector<TimelineTrack> list;
  for (auto& [order, track] : tracks_) {
    if (const auto samples = lines_.find(order); samples != lines_.end()) {
      std::ranges::stable_sort(samples->second, {}, &CounterLine::Sample::time);
      track.events = samples->second.size();
      track.line = CounterLine(std::move(samples->second));
    }
    list.push_back(std::move(track));
  }
  return list;
}

namespace {

// The one name that all events of a track have; empty where there are several.
std::string_view only_name(const trace::Trace& trace, const trace::Track& track) {
  if (track.begin == track.end) return {};
  for (trace::Row row = track.begin; row < track.end; ++row) {
    if (trace.name()[row] != trace.name()[track.begin]) return {};
  }
  return trace.name_text(track.begin);
}

std::string recorded_label(const trace::ProcessRecord& record, const trace::Track& track) {
  const bool main = track.pid && track.pid == track.tid;
  if (record.is_worker && main) return fmt::format("worker process {}", track.process);
  if (main) return "main thread";
  if (!track.tid) return track.thread == "steps" ? "recorded steps" : track.thread;
  if (track.thread_name.empty()) return fmt::format("thread {}", track.thread);
  return fmt::format("thread {} ({})", track.thread, track.thread_name);
}

}  // namespace

std::string thread_label(const TimelineWindow& window, const trace::Track& track) {
  const auto& record = window.trace->header().process_record;
  if (record != nullptr && !track.thread.empty()) return recorded_label(*record, track);
  if (!track.thread_name.empty()) return track.thread_name;
  if (track.tid) return fmt::format("thread {}", track.thread);
  // Profilers write of themselves on threads that are words: "PyTorch Profiler".
  if (!track.thread.empty()) return track.thread;
  const std::string_view name = only_name(*window.trace, track);
  if (!name.empty()) return std::string(name);
  if (!track.process.empty()) return fmt::format("process {}, no thread", track.process);
  return "events of no thread";
}

std::string log_label(const TimelineWindow& window) {
  const trace::ProcessRecord& record = *window.trace->header().process_record;
  if (!record.is_worker || !record.pid) return "log lines";
  return fmt::format("log lines of worker {}", *record.pid);
}

std::optional<std::string> recorded_counter_label(std::string_view name) {
  constexpr std::string_view kLoader = "loader ";
  constexpr std::string_view kReady = "loader ready#";
  if (name.starts_with(kReady)) return fmt::format("{} batches ready", name.substr(kReady.size()));
  if (name.starts_with(kLoader) && name.find('#') != std::string_view::npos) return std::nullopt;
  return std::string(name);
}

LabelAndUnit label_and_unit(std::string name) {
  constexpr std::string_view kBytes = " bytes";
  const std::size_t open = name.rfind(" (");
  if (open != std::string::npos && name.ends_with(')')) {
    return {name.substr(0, open), name.substr(open + 2, name.size() - open - 3)};
  }
  if (name.size() > kBytes.size() && name.ends_with(kBytes)) {
    name.resize(name.size() - kBytes.size());
    return {std::move(name), "bytes"};
  }
  return {std::move(name), ""};
}

}  // namespace stepscope::session
