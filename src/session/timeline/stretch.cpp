// Statistics of a stretch of the timeline.
#include "session/timeline/stretch.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace stepscope::session {
namespace {

using analysis::Interval;
using base::Nanos;

struct NameSum {
  std::uint64_t count = 0;
  Nanos total = 0, self = 0, longest = 0;
};
using NameKey = std::pair<std::string_view, std::uint8_t>;

class Sums {
 public:
  Sums(Nanos from, Nanos to) : from_(from), to_(to) {}

  void add(const TrackPart& part) {
    // By id within a part: a text is compared once per name, not once per event.
    std::unordered_map<std::uint64_t, NameSum> sums;
    const Interval here{from_ - part.offset, to_ - part.offset};
    const auto key = [&](std::uint32_t item) {
      const std::uint64_t id = part.trace != nullptr ? part.trace->name()[item] : item;
      return id << 8U | part.kind(item);
    };
    for (const Lane& lane : part.lanes) {
      std::size_t position = lane.first_at(here.start);
      if (position > 0 && lane.end(position - 1) > here.start) --position;
      for (; position < lane.size() && lane.start(position) < here.end; ++position) {
        const std::uint32_t item = lane.item(position);
        const Nanos inside =
            std::min(lane.end(position), here.end) - std::max(lane.start(position), here.start);
        NameSum& sum = sums[key(item)];
        ++sum.count;
        sum.total += inside;
        sum.self += inside;
        sum.longest = std::max(sum.longest, inside);
        ++events_;
        if (part.trace == nullptr) continue;
        const trace::Row parent = part.trace->parent()[item];
        if (parent == trace::kNoRow) continue;
        // A callee may outlive its caller by noise; only what lies inside is not the caller's own.
        const Nanos shared =
            std::min({lane.end(position), part.trace->end(parent), here.end}) -
            std::max({lane.start(position), part.trace->start()[parent], here.start});
        if (shared > 0) sums[key(parent)].self -= shared;
      }
    }
    for (const auto& [id, sum] : sums) {
      if (sum.count == 0) continue;
      const auto text = static_cast<std::uint32_t>(id >> 8U);
      const std::string_view name =
          part.trace != nullptr ? part.trace->text(text) : part.name(text);
      NameSum& all = names_[{name, static_cast<std::uint8_t>(id)}];
      all.count += sum.count;
      all.total += sum.total;
      all.self += sum.self;
      all.longest = std::max(all.longest, sum.longest);
    }
  }

  Stretch take() const {
    Stretch out;
    out.events = events_;
    std::map<std::uint8_t, StretchName> kinds;
    for (const auto& [key, sum] : names_) {
      out.names.push_back(
          {std::string(key.first), key.second, sum.count, sum.total, sum.self, sum.longest});
      StretchName& kind = kinds[key.second];
      kind.kind = key.second;
      kind.count += sum.count;
      kind.total += sum.total;
      kind.self += sum.self;
      kind.longest = std::max(kind.longest, sum.longest);
    }
    for (auto& [kind, sum] : kinds) out.kinds.push_back(sum);
    const auto more = [](const StretchName& a, const StretchName& b) {
      return std::tuple(-a.self, std::string_view(a.name), a.kind) <
             std::tuple(-b.self, std::string_view(b.name), b.kind);
    };
    std::ranges::sort(out.names, more);
    std::ranges::sort(out.kinds, more);
    return out;
  }

 private:
  Nanos from_, to_;
  std::uint64_t events_ = 0;
  std::map<NameKey, NameSum> names_;
};

// Idle time by cause within the measured time, as idle-time counts it.
void add_device(StretchDevice& sum, const TimelineTrack& idle, const Timeline& timeline,
                const Study& study, const StretchRequest& request) {
  for (const analysis::WindowView& view : study.view().windows) {
    const TimelineWindow* window = timeline.window(view.rank, view.window);
    if (view.rank != idle.rank || window == nullptr) continue;
    const Interval here{request.from - window->offset, request.to - window->offset};
    const analysis::Intervals measured = analysis::clip(view.measured, here);
    for (const analysis::DeviceView& device : view.devices) {
      if (device.device != sum.device) continue;
      sum.measured += analysis::total(measured);
      sum.busy += analysis::common(device.busy, measured);
    }
    const analysis::Coverage coverage(measured);
    const Lane& gaps = *idle.gaps.lane;
    std::size_t position = gaps.first_at(request.from);
    if (position > 0) --position;
    for (; position < gaps.size() && gaps.start(position) < request.to; ++position) {
      const Interval gap{gaps.start(position) - window->offset,
                         gaps.end(position) - window->offset};
      sum.causes[idle.gaps.gaps->kinds[gaps.item(position)]] += coverage.covered(gap);
    }
  }
}

void add_lines(std::vector<StretchLine>& lines, const TimelineTrack& log,
               const StretchRequest& request) {
  for (const TrackPart& part : log.parts) {
    for (const Lane& lane : part.lanes) {
      std::size_t position = lane.first_at(request.from - part.offset);
      for (; position < lane.size(); ++position) {
        const Nanos time = lane.start(position) + part.offset;
        if (time >= request.to) break;
        const std::uint32_t item = lane.item(position);
        lines.push_back({log.rank, time, part.kind(item) * 10, std::string(part.name(item))});
      }
    }
  }
}

}  // namespace

Stretch stretch_of(const Timeline& timeline, const Study& study, const StretchRequest& request) {
  Sums sums(request.from, request.to);
  std::set<std::pair<std::int32_t, std::int32_t>> devices;
  for (const std::uint32_t t : request.tracks) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.device) devices.emplace(track.rank, *track.device);
    if (track.kind == TrackKind::kSteps || track.kind == TrackKind::kLog) continue;
    for (const TrackPart& part : track.parts) sums.add(part);
  }
  Stretch out = sums.take();
  for (const std::uint32_t t : request.tracks) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.kind == TrackKind::kLog) add_lines(out.lines, track, request);
  }
  std::ranges::stable_sort(out.lines, {}, &StretchLine::time);
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.kind != TrackKind::kDeviceIdle || !devices.contains({track.rank, *track.device})) {
      continue;
    }
    StretchDevice device{.rank = track.rank, .device = *track.device};
    add_device(device, track, timeline, study, request);
    out.devices.push_back(device);
  }
  for (const std::uint32_t t : request.tracks) {
    const CounterLine& line = timeline.tracks[t].line;
    if (line.size() == 0) continue;
    const std::size_t end = line.first_at(request.to);
    std::size_t begin = std::min(line.first_at(request.from), end);
    if (begin > 0) --begin;  // its value still holds
    if (begin == end) continue;
    out.counters.push_back(
        {t, line.extent(begin, end), line.mean(request.from, request.to), line[end - 1].value});
  }
  return out;
}

}  // namespace stepscope::session
