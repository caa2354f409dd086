// Builds the timeline of a run: all its tracks on one axis.
#include "session/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/recording/recorded_steps.h"
#include "session/timeline/track_list.h"
#include "trace/process_record.h"

namespace stepscope::session {
namespace {

using base::Nanos;

// First and last time of what a window holds; nothing for one that is empty. What a process
// recorded of itself reaches to the end of the recording: its times count from the beginning.
std::optional<trace::Span> extent_of(const trace::Trace& trace) {
  std::optional<trace::Span> span;
  if (trace.size() > 0) span = trace.span();
  if (const auto& record = trace.header().process_record) {
    for (const trace::LogEntry& line : record->log) {
      if (!span) span = trace::Span{line.time, line.time};
      span->start = std::min(span->start, line.time);
      span->end = std::max(span->end, line.time);
    }
    // The process, and what was sampled beside it, went on after the last of its events.
    if (span) span->end = std::max(span->end, record->length);
  }
  return span;
}

Nanos zero_of(const trace::Clock& clock) { return clock.base_ns + clock.offset_ns; }

// Windows whose clock is known keep their distances. The others begin with the run, and keep the
// distances among themselves.
void place_windows(Timeline& timeline, const trace::Run& run) {
  constexpr Nanos kNever = std::numeric_limits<Nanos>::max();
  Nanos known = kNever;
  Nanos unknown = kNever;
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::uint32_t w = 0; w < rank.windows.size(); ++w) {
      const trace::Trace& trace = rank.windows[w].trace;
      const auto extent = extent_of(trace);
      if (!extent) continue;
      timeline.windows.push_back({.rank = rank.rank.value,
                                  .window = w,
                                  .first = extent->start,
                                  .last = extent->end,
                                  .trace = &trace});
      Nanos& first = trace.clock().base_known ? known : unknown;
      first = std::min(first, extent->start + zero_of(trace.clock()));
    }
  }
  for (TimelineWindow& window : timeline.windows) {
    const trace::Clock& clock = window.trace->clock();
    window.offset = zero_of(clock) - (clock.base_known ? known : unknown);
    window.first += window.offset;
    window.last += window.offset;
    timeline.length = std::max(timeline.length, window.last);
  }
  if (known != kNever) timeline.start_unix_ns = known;
}

}  // namespace

std::string_view name_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::kSteps:
      return "steps";
    case TrackKind::kHostThread:
      return "host_thread";
    case TrackKind::kDeviceStream:
      return "device_stream";
    case TrackKind::kDeviceIdle:
      return "device_idle";
    case TrackKind::kRecorded:
      return "recorded";
    case TrackKind::kLog:
      return "log";
    case TrackKind::kCounter:
      return "counter";
  }
  return "";
}

void OwnEvents::add(Nanos begin, Nanos length, std::string name, std::uint8_t kind) {
  start.push_back(begin);
  duration.push_back(length);
  if (!name.empty()) names.push_back(std::move(name));
  kinds.push_back(kind);
}

Lane OwnEvents::lane() const {
  std::vector<std::uint32_t> items(start.size());
  std::iota(items.begin(), items.end(), std::uint32_t{0});
  return {start, duration, std::move(items)};
}

std::string_view TrackPart::name(std::uint32_t item) const {
  return trace != nullptr ? trace->name_text(item) : std::string_view(own->names[item]);
}
std::uint32_t TrackPart::ordinal(std::uint32_t item) const {
  if (trace != nullptr) return trace->ordinal()[item];
  return own->numbered ? item : kNoOrdinal;
}
std::uint8_t TrackPart::kind(std::uint32_t item) const {
  return trace != nullptr ? static_cast<std::uint8_t>(trace->kind()[item]) : own->kinds[item];
}
std::uint8_t TrackPart::flags(std::uint32_t item) const {
  return trace != nullptr ? trace->flags()[item] : std::uint8_t{0};
}

const TimelineWindow* Timeline::window(std::int32_t rank, std::uint32_t number) const {
  const auto found = std::ranges::find_if(windows, [&](const TimelineWindow& window) {
    return window.rank == rank && window.window == number;
  });
  return found == windows.end() ? nullptr : &*found;
}

std::optional<Timeline::Place> Timeline::place_of(const TimelineWindow& window,
                                                  trace::Row row) const {
  for (std::uint32_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].rank != window.rank) continue;
    for (const TrackPart& part : tracks[t].parts) {
      if (part.trace != window.trace) continue;
      for (std::uint32_t depth = 0; depth < part.lanes.size(); ++depth) {
        if (std::ranges::binary_search(part.lanes[depth].items(), row)) return Place{t, depth};
      }
    }
  }
  return std::nullopt;
}

std::size_t Timeline::memory() const {
  std::size_t bytes = 0;
  for (const TimelineTrack& track : tracks) {
    for (const TrackPart& part : track.parts) {
      for (const Lane& lane : part.lanes) bytes += lane.memory();
    }
    if (track.gaps.lane) {
      bytes += track.gaps.lane->memory() + track.gaps.gaps->start.size() * (2 * sizeof(Nanos) + 1);
    }
    bytes += track.line.size() * sizeof(CounterLine::Sample);
  }
  return bytes;
}

base::Result<Timeline> make_timeline(const OpenedRun& recording, const Study& study,
                                     unsigned threads) {
  Timeline timeline;
  place_windows(timeline, recording.run);
  if (timeline.start_unix_ns && !study.view().recordings.empty()) {
    timeline.recorded_offset = analysis::recording_start(study.view()) - *timeline.start_unix_ns;
  }
  SCOPE_TRY(TrackList list, TrackList::prepare(timeline, recording, study, threads));
  timeline.tracks = std::move(list).take();
  return timeline;
}

}  // namespace stepscope::session
