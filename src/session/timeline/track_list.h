// Collects the tracks of a timeline: those of the traces, merged over the windows of a rank, and
// those that are computed: steps, idle time, log lines, counters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/view.h"
#include "base/result.h"
#include "session/timeline/timeline.h"
#include "trace/trace.h"

namespace stepscope::session {

class TrackList {
 public:
  static base::Result<TrackList> prepare(const Timeline& timeline, const OpenedRun& recording,
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
  base::Status add_computed_counters(const OpenedRun& recording, const Study& study);
  const TimelineWindow* window_of(const analysis::WindowView& view) const {
    return timeline_->window(view.rank, view.window);
  }

  const Timeline* timeline_;
  std::map<Order, TimelineTrack> tracks_;
  std::map<Order, std::vector<CounterLine::Sample>> lines_;
};

// What the rows of a timeline are called: by what a person would say, not by what a file left
// empty.

// Of the row of a thread; never empty. `track` is one of the window's trace.
std::string thread_label(const TimelineWindow& window, const trace::Track& track);

// Of the log lines of a process.
std::string log_label(const TimelineWindow& window);

// Of a line that a process recorded of itself. Nothing for what a data loader notes down of each
// batch (its number, its worker, its settings): the loader's own questions answer with it, and as a
// line it says nothing; how many batches were ready is one.
std::optional<std::string> recorded_counter_label(std::string_view name);

// "GPU 0 utilisation (%)" and "resident bytes" are a label and a unit.
struct LabelAndUnit {
  std::string label, unit;
};
LabelAndUnit label_and_unit(std::string name);

}  // namespace stepscope::session
