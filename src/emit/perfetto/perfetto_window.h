// The events of one window as Perfetto packets: slices, instants, counters and arrows.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emit/emit.h"
#include "emit/perfetto/perfetto_tracks.h"
#include "emit/perfetto/slice_lanes.h"

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
