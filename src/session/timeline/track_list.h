// Collects the tracks of a timeline: those of the traces, merged over the windows of a rank, and
// those that are computed: steps, idle time, log lines, counters.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/view.h"
#include "base/result.h"
#include "session/timeline/timeline.h"

namespace stepscope::session {

class TrackList {
 public:
  static base::Result<TrackList> prepare(const Timeline& timeline, const Recording& recording,
                                         const Study& study, unsigned threads);
  std::vector<TimelineTrack> take() &&;

 private:
  // Place in the drawing: rank, then what it is, then device or sort index, then first come.
  using Order = std::tuple<std::int32_t, int, std::int64_t, int, std::int64_t, std::string>;

  // The second place of an order.
  enum Section : int {
    kStepSection,
    kDeviceSection,
    kHostSection,
    kRecordedSection,
    kLogSection,
    kCounterSection,
    kMachineSection,
  };

  explicit TrackList(const Timeline& timeline) : timeline_(&timeline) {}
  TimelineTrack& track(const Order& order, const TimelineWindow& window, TrackKind kind);
  TimelineTrack& device_track(const TimelineWindow& window, TrackKind kind, std::int32_t device,
                              std::int64_t number, const std::string& name);
  void add_events(unsigned threads);
  void add_steps(const analysis::WindowView& window);
  void add_gaps(const analysis::RunView& view, unsigned threads);
  void add_log(const TimelineWindow& window);
  void add_recorded_counters(const TimelineWindow& window);
  void add_sampled(const analysis::RunView& view);
  base::Status add_computed_counters(const Recording& recording, const Study& study);
  const TimelineWindow* window_of(const analysis::WindowView& view) const {
    return timeline_->window(view.rank, view.window);
  }

  const Timeline* timeline_;
  std::map<Order, TimelineTrack> tracks_;
  std::map<Order, std::vector<CounterLine::Sample>> lines_;
};

}  // namespace stepscope::session
