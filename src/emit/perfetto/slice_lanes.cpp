#include "emit/perfetto/slice_lanes.h"

#include <limits>

#include "trace/call_tree.h"

namespace stepscope::emit {
namespace {

constexpr std::uint32_t kNoLane = std::numeric_limits<std::uint32_t>::max();

}  // namespace

SliceLanes::Placed SliceLanes::place(const Span& span) {
  ended_.clear();
  end_until(span.start);
  const auto around = tops_.lower_bound({span.end, 0});
  std::uint32_t lane = around != tops_.end() ? around->second : kNoLane;
  base::Nanos end = span.end;
  if (lane == kNoLane) {
    lane = lane_below(span.parent, span.end);
    if (lane != kNoLane) end = lanes_[lane].back().end;
  }
  if (lane == kNoLane) lane = free_lane();
  open(lane, span, end);
  return {lane, end};
}

void SliceLanes::finish() {
  ended_.clear();
  end_until(std::numeric_limits<base::Nanos>::max());
}

void SliceLanes::end_until(base::Nanos time) {
  while (!tops_.empty() && tops_.begin()->first <= time) {
    const auto [end, lane] = *tops_.begin();
    tops_.erase(tops_.begin());
    ended_.push_back({lane, end});
    lanes_[lane].pop_back();
    if (lanes_[lane].empty()) {
      free_.push(lane);
    } else {
      tops_.insert({lanes_[lane].back().end, lane});
    }
  }
}

// The lane whose innermost span is the caller that this one outlives by clock noise alone.
std::uint32_t SliceLanes::lane_below(trace::Row parent, base::Nanos end) const {
  if (parent == trace::kNoRow) return kNoLane;
  for (const auto& [top, lane] : tops_) {
    if (lanes_[lane].back().row == parent && end - top <= trace::kCalleeTolerance) return lane;
  }
  return kNoLane;
}

std::uint32_t SliceLanes::free_lane() {
  if (free_.empty()) {
    lanes_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }
  const std::uint32_t lane = free_.top();
  free_.pop();
  return lane;
}

void SliceLanes::open(std::uint32_t lane, const Span& span, base::Nanos end) {
  if (!lanes_[lane].empty()) tops_.erase({lanes_[lane].back().end, lane});
  lanes_[lane].push_back({span.row, end});
  tops_.insert({end, lane});
}

}  // namespace stepscope::emit
