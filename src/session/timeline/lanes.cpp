#include "session/timeline/lanes.h"

#include <array>
#include <limits>
#include <utility>

namespace stepscope::session {
namespace {

using trace::Row;

constexpr std::uint16_t kNoShard = 0xffff;

bool is_on_a_row(const trace::Trace& trace, Row row) {
  return trace.phase()[row] != trace::Phase::kCounter && trace.kind()[row] != trace::Kind::kMemory;
}

// What keeps rows of its own, from the top: what surrounds a stream's work, the work or the calls,
// and what runs beside them.
enum Belt : std::uint8_t { kAround, kMiddle, kBeside, kBelts };

Belt belt_of(const trace::Trace& trace, const trace::Track& track, Row row) {
  const trace::Phase phase = trace.phase()[row];
  if (phase == trace::Phase::kAsyncSpan || phase == trace::Phase::kAsyncInstant) return kBeside;
  if (!track.is_device) return kMiddle;
  const trace::Kind kind = trace.kind()[row];
  if (kind == trace::Kind::kGpuAnnotation) return kAround;
  return is_device_work(kind) ? kMiddle : kBeside;
}

struct Rows {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<base::Nanos> free_from;  // when the last event of each has ended

  std::size_t free_at(base::Nanos time, std::size_t lane) const {
    while (lane < free_from.size() && free_from[lane] > time) ++lane;
    return lane;
  }
  void put(Row row, base::Nanos end, std::size_t lane) {
    while (free_from.size() <= lane) {
      free_from.push_back(std::numeric_limits<base::Nanos>::min());
      rows.emplace_back();
    }
    free_from[lane] = end;
    rows[lane].push_back(row);
  }
};

}  // namespace

TrackLanes lanes_of(const trace::Trace& trace, const trace::Track& track) {
  TrackLanes out;
  std::array<Rows, kBelts> belts;
  std::vector<std::uint16_t> lane_of(track.end - track.begin, kNoShard);
  for (Row row = track.begin; row < track.end; ++row) {
    if (!is_on_a_row(trace, row)) continue;
    ++out.events;
    if ((trace.flags()[row] & trace::kFarTime) != 0) {
      ++out.not_drawn;
      continue;
    }
    Rows& belt = belts[belt_of(trace, track, row)];
    const Row parent = trace.parent()[row];
    std::size_t lane = 0;
    if (parent != trace::kNoRow && parent >= track.begin && parent < row &&
        lane_of[parent - track.begin] != kNoShard) {
      lane = lane_of[parent - track.begin] + std::size_t{1};
    }
    lane = belt.free_at(trace.start()[row], lane);
    if (lane >= kMostLanes) {
      ++out.not_drawn;
      continue;
    }
    belt.put(row, trace.end(row), lane);
    lane_of[row - track.begin] = static_cast<std::uint16_t>(lane);
  }
  for (Rows& belt : belts) {
    for (auto& items : belt.rows) {
      if (items.empty()) continue;  // callers that are not drawn
      out.lanes.emplace_back(trace.start(), trace.duration(), std::move(items));
    }
  }
  return out;
}

}  // namespace stepscope::session
