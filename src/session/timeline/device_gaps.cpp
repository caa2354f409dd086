// Gaps of streams and devices with their causes, as the idle-time analysis finds them.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "analysis/idle/idle_gaps.h"
#include "base/parallel.h"
#include "session/timeline/track_list.h"

namespace stepscope::session {
namespace {

using analysis::Gap;

void append(TimelineTrack& track, const std::vector<Gap>& gaps, base::Nanos offset) {
  if (track.gaps.gaps == nullptr) track.gaps.gaps = std::make_unique<OwnEvents>();
  for (const Gap& gap : gaps) {
    track.gaps.gaps->add(gap.time.start + offset, gap.time.length(), "",
                         static_cast<std::uint8_t>(gap.cause));
  }
}

// Windows of a rank come by start, but their clocks may lie.
void make_lane(TimelineTrack& track) {
  OwnEvents& gaps = *track.gaps.gaps;
  base::Nanos free_from = 0;
  for (std::size_t i = 0; i < gaps.start.size(); ++i) {
    if (i > 0 && gaps.start[i] < free_from) {
      const base::Nanos end = std::max(free_from, gaps.start[i] + gaps.duration[i]);
      gaps.start[i] = free_from;
      gaps.duration[i] = end - free_from;
    }
    free_from = gaps.start[i] + gaps.duration[i];
  }
  track.gaps.lane = gaps.lane();
}

struct WindowGaps {
  std::vector<std::vector<Gap>> streams, devices;
};

WindowGaps gaps_of(const analysis::WindowView& window) {
  WindowGaps out;
  if (window.work.empty() || window.measured.empty()) return out;
  const analysis::GapFinder finder(window, {});
  const analysis::Interval bounds{window.measured.front().start, window.measured.back().end};
  for (const analysis::StreamView& stream : window.streams) {
    out.streams.push_back(finder.gaps(stream.work, bounds));
  }
  for (const analysis::DeviceView& device : window.devices) {
    std::vector<std::uint32_t> pieces(device.end - device.begin);
    std::iota(pieces.begin(), pieces.end(), static_cast<std::uint32_t>(device.begin));
    out.devices.push_back(finder.gaps(pieces, bounds));
  }
  return out;
}

}  // namespace

void TrackList::add_gaps(const analysis::RunView& view, unsigned threads) {
  std::vector<WindowGaps> found(view.windows.size());
  base::parallel_for(view.windows.size(), threads,
                     [&](std::size_t i) { found[i] = gaps_of(view.windows[i]); });
  for (std::size_t w = 0; w < view.windows.size(); ++w) {
    const analysis::WindowView& from = view.windows[w];
    const TimelineWindow* window = window_of(from);
    if (window == nullptr) continue;
    for (std::size_t i = 0; i < found[w].streams.size(); ++i) {
      const analysis::StreamView& stream = from.streams[i];
      const Order order{window->rank, kDeviceSection, stream.device, 1, stream.stream, ""};
      // Work may name a stream that its track does not: then no track shows it.
      if (const auto to = tracks_.find(order); to != tracks_.end()) {
        append(to->second, found[w].streams[i], window->offset);
      }
    }
    for (std::size_t i = 0; i < found[w].devices.size(); ++i) {
      const std::int32_t device = from.devices[i].device;
      TimelineTrack& to = device_track(*window, TrackKind::kDeviceIdle, device, 0, "");
      to.label = fmt::format("GPU {} idle", device);
      append(to, found[w].devices[i], window->offset);
    }
  }
  for (auto& [order, track] : tracks_) {
    if (track.gaps.gaps == nullptr) continue;
    make_lane(track);
    if (track.kind == TrackKind::kDeviceIdle) track.events = track.gaps.gaps->start.size();
  }
}

}  // namespace stepscope::session
