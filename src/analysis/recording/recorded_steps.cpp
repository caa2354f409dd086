#include "analysis/recording/recorded_steps.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "analysis/recording/phases.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// When the profiler of a rank was recording, on the wall clock.
Intervals traced_times(const RunView& view, std::int32_t rank) {
  std::vector<Interval> spans;
  for (const WindowView& window : view.windows) {
    const trace::Trace& trace = *window.trace;
    if (window.rank != rank || trace.is_recording() || !trace.clock().base_known) continue;
    const Nanos zero = trace.clock().zero_unix_ns();
    spans.push_back({trace.span().start + zero, trace.span().end + zero});
  }
  return sorted_union(std::move(spans));
}

}  // namespace

Intervals RecordedStep::own() const {
  const Interval all = span();
  return aside.empty() ? Intervals{all} : subtract(std::span(&all, 1), aside);
}

bool RecordedStep::is_aside(Nanos time) const {
  return std::ranges::any_of(
      aside, [&](const Interval& one) { return one.start < time && time <= one.end; });
}

Nanos recording_start(const RunView& view) {
  Nanos start = std::numeric_limits<Nanos>::max();
  for (const WindowView& recording : view.recordings) {
    start = std::min(start, recording.trace->clock().zero_unix_ns());
  }
  return view.recordings.empty() ? 0 : start;
}

std::map<std::int32_t, std::vector<RecordedStep>> recorded_steps(const RunView& view) {
  const Nanos zero = recording_start(view);
  std::map<std::int32_t, std::vector<RecordedStep>> ranks;
  for (const WindowView& recording : view.recordings) {
    if (!recording.has_steps || recording.trace->header().process_record->is_worker) continue;
    const Coverage traced(traced_times(view, recording.rank));
    const Nanos shift = recording.trace->clock().zero_unix_ns();
    const Intervals declared = set_aside(recording);
    auto next = declared.begin();
    for (const StepTime& step : recording.steps) {
      if (!step.selected) continue;
      const Interval wall{step.host.start + shift, step.host.end + shift};
      Intervals aside;
      while (next != declared.end() && next->end <= step.host.start) ++next;
      for (auto one = next; one != declared.end() && one->start < step.host.end; ++one) {
        aside.push_back({std::max(one->start, step.host.start) + shift - zero,
                         std::min(one->end, step.host.end) + shift - zero});
      }
      ranks[recording.rank].push_back({.number = step.number,
                                       .start = wall.start - zero,
                                       .length = step.host.length() - total(aside),
                                       .traced = traced.covered(wall) > 0,
                                       .aside = std::move(aside)});
    }
  }
  return ranks;
}

std::map<std::int32_t, Durations> recorded_saves(const RunView& view) {
  std::map<std::int32_t, Durations> ranks;
  for (const WindowView& recording : view.recordings) {
    if (!recording.has_steps || recording.trace->header().process_record->is_worker) continue;
    for (const Interval& save : saves_of(recording)) ranks[recording.rank].add(save.length());
  }
  return ranks;
}

bool is_of_program(const RunView& view) {
  const std::pair<std::string, std::string> by_command("recorded_by", "\"command\"");
  return !view.recordings.empty() &&
         std::ranges::all_of(view.recordings, [&](const WindowView& recording) {
           return std::ranges::count(recording.trace->header().metadata, by_command) > 0;
         });
}

}  // namespace stepscope::analysis
