// The events of one window as Perfetto packets: slices, instants, counters and arrows.
#pragma once

#include <cstdint>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "emit/emit.h"
#include "emit/perfetto/perfetto_packets.h"
#include "trace/tables.h"
#include "trace/trace.h"

// Spreads the spans of one track over lanes on which they nest, because Perfetto cannot show spans
// that overlap without nesting on one track. Spans come by start, the longer first, and go into the
// tightest open span around them, else to the first lane that is free.

namespace stepscope::emit {

class SliceLanes {
 public:
  struct Span {
    trace::Row row;
    base::Nanos start, end;
    trace::Row parent;  // its caller, or kNoRow
  };
  struct Placed {
    std::uint32_t lane;
    base::Nanos end;  // earlier than asked for when clock noise made it outlive its caller
  };
  struct Ended {
    std::uint32_t lane;
    base::Nanos time;
  };

  // Which spans end before the next one begins goes to ended(), in the order in which they end.
  Placed place(const Span& span);
  void finish();  // ends all that are open
  const std::vector<Ended>& ended() const { return ended_; }

 private:
  struct Open {
    trace::Row row;
    base::Nanos end;
  };
  using Top = std::pair<base::Nanos, std::uint32_t>;  // end of a lane's innermost span, lane

  void end_until(base::Nanos time);
  std::uint32_t lane_below(trace::Row parent, base::Nanos end) const;
  std::uint32_t free_lane();
  void open(std::uint32_t lane, const Span& span, base::Nanos end);

  std::vector<std::vector<Open>> lanes_;
  std::set<Top> tops_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::vector<Ended> ended_;
};

}  // namespace stepscope::emit

// The tracks of one window: described to Perfetto the first time something stands on them.
// Processes and threads get numbers of our own, because ranks of several hosts share theirs.

namespace stepscope::emit::perfetto {

struct WindowTitle {
  std::string key;    // for uuids: the same window gives the same ones in every export
  std::string title;  // "rank 3", or "rank 3 window 1" where there are several
};

class Tracks {
 public:
  // `next_number` is the last pid or tid given away in this file.
  Tracks(Packets& packets, const trace::Trace& trace, const Texts& texts, WindowTitle title,
         std::int32_t& last_number)
      : packets_(packets),
        trace_(trace),
        texts_(texts),
        title_(std::move(title)),
        last_number_(last_number) {}

  // Lane 0 of a track is its thread or stream; the others lie below it and hold what overlaps.
  std::uint64_t lane(std::uint32_t track, std::uint32_t lane);
  std::uint64_t async_lane(std::uint32_t track, std::uint32_t lane);
  // A counter belongs to the process of its track.
  enum class Unit : std::uint8_t { kNone, kBytes };
  std::uint64_t counter(std::uint32_t track, std::string_view name, Unit unit);

 private:
  std::uint64_t uuid_of(std::string_view kind, std::string_view name, std::string_view more) const;
  std::uint64_t process(const trace::Track& track);
  std::uint64_t thread(const trace::Track& track);
  std::uint64_t child(std::uint64_t parent, std::string_view kind, const trace::Track& track,
                      std::string_view name);
  std::string process_name(const trace::Track& track) const;
  std::string thread_name(const trace::Track& track) const;

  Packets& packets_;
  const trace::Trace& trace_;
  const Texts& texts_;
  WindowTitle title_;
  std::int32_t& last_number_;
  std::unordered_map<std::uint64_t, std::int32_t> known_;  // described tracks, pid of processes
};

}  // namespace stepscope::emit::perfetto

namespace stepscope::emit::perfetto {

class WindowWriter {
 public:
  // Local times become `to_time` + local. Arrows get numbers from `first_flow` on, one per event.
  WindowWriter(Packets& packets, Tracks& tracks, const trace::Trace& trace, const Texts& texts,
               base::Nanos to_time, std::uint64_t first_flow);

  // False when the sink failed.
  bool write(const Output& out, Written& written);
  void write_series(std::span<const CounterSeries> all, Written& written);

 private:
  void write_row(trace::Row row, std::uint32_t track);
  void write_span(trace::Row row, std::uint32_t track);
  void write_async(trace::Row row, std::uint32_t track);
  void write_instant(trace::Row row, std::uint32_t track);
  void write_counters(trace::Row row, std::uint32_t track);
  void write_memory(trace::Row row, std::uint32_t track);
  void write_counter(std::uint64_t track, base::Nanos at, double value);
  void begin_slice(trace::Row row, std::uint64_t track, base::Nanos end);
  void add_flows(trace::Row row);
  void end_slices(std::uint32_t track);
  void end_async(std::uint32_t track);
  std::uint64_t time(base::Nanos local) const {
    return static_cast<std::uint64_t>(to_time_ + local);
  }
  std::uint64_t flow_to(trace::Row row) const { return first_flow_ + row; }
  bool has_slice(trace::Row row) const;

  Packets& packets_;
  Tracks& tracks_;
  const trace::Trace& trace_;
  const Texts& texts_;
  base::Nanos to_time_;
  std::uint64_t first_flow_;
  std::vector<std::pair<trace::Row, trace::Row>> backward_of_;  // forward op, backward op; sorted
  SliceLanes spans_, async_;                                    // of the track being written
};

}  // namespace stepscope::emit::perfetto
