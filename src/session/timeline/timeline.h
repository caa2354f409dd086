// A recording as tracks on one axis of time: what a page draws. Made once after loading; then any
// stretch of any track is found without looking at every event. Times are those of the run:
// nanoseconds since the first event of all ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"
#include "session/timeline/lane.h"

namespace stepscope::session {

enum class TrackKind : std::uint8_t {
  kSteps,
  kHostThread,
  kDeviceStream,
  kDeviceIdle,
  kRecorded,
  kLog,
  kCounter,
};
std::string_view name_of(TrackKind kind);

// Events that are in no trace: steps, log lines.
struct OwnEvents {
  std::vector<base::Nanos> start, duration;
  std::vector<std::string> names;
  std::vector<std::uint8_t> kinds;
  bool numbered = false;  // they are known by their position: log lines

  void add(base::Nanos begin, base::Nanos length, std::string name, std::uint8_t kind);
  Lane lane() const;  // they must not overlap
};

inline constexpr std::uint32_t kNoOrdinal = 0xffffffff;

// What one window of a rank has on a track. Its lanes are in the time of the window.
struct TrackPart {
  const trace::Trace* trace = nullptr;  // null: own
  std::unique_ptr<OwnEvents> own;
  std::uint32_t window = 0;
  base::Nanos offset = 0;  // time of the run = time of the window + offset
  std::vector<Lane> lanes;

  std::string_view name(std::uint32_t item) const;
  std::uint32_t ordinal(std::uint32_t item) const;
  std::uint8_t kind(std::uint32_t item) const;
  std::uint8_t flags(std::uint32_t item) const;
};

// Stretches in which a stream or device ran nothing, by cause; in the time of the run.
struct GapLane {
  std::unique_ptr<OwnEvents> gaps;  // kinds: causes
  std::optional<Lane> lane;
};

// The rank of what is a machine's, not a rank's; after all of them.
inline constexpr std::int32_t kMachineRank = std::numeric_limits<std::int32_t>::max();

struct TimelineTrack {
  TrackKind kind = TrackKind::kHostThread;
  std::int32_t rank = 0;
  std::string host, group, label;
  std::string process, process_name, thread, thread_name, unit;
  std::optional<std::int32_t> device;
  std::optional<std::int64_t> stream;
  std::uint32_t depth = 1;
  base::Nanos first = 0, last = 0;
  std::uint64_t events = 0, not_drawn = 0;
  std::vector<TrackPart> parts;  // by window
  GapLane gaps;
  CounterLine line;
};

// A window of a rank on the axis of the run.
struct TimelineWindow {
  std::int32_t rank = 0;
  std::uint32_t window = 0;
  base::Nanos first = 0, last = 0;
  base::Nanos offset = 0;
  const trace::Trace* trace = nullptr;
};

struct Timeline {
  std::optional<base::Nanos> start_unix_ns;  // of time 0, where a clock is known
  // Time of the run = time since the first recording of the run began, as its tables count, + this.
  std::optional<base::Nanos> recorded_offset;
  base::Nanos length = 0;
  std::vector<TimelineWindow> windows;  // by rank, then window
  std::vector<TimelineTrack> tracks;    // in the order in which they are best drawn

  const TimelineWindow* window(std::int32_t rank, std::uint32_t number) const;
  // The track of an event of a trace and its row there; nothing for what is on no track.
  struct Place {
    std::uint32_t track = 0, depth = 0;
  };
  std::optional<Place> place_of(const TimelineWindow& window, trace::Row row) const;
  std::size_t memory() const;
};

// The run and the study must outlive the timeline.
base::Result<Timeline> make_timeline(const OpenedRun& recording, const Study& study,
                                     unsigned threads);

}  // namespace stepscope::session
