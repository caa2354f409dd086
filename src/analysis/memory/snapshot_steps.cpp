// Where the training steps lie in a snapshot, and what to call it.

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/memory/snapshot_view.h"
#include "analysis/steps/step_times.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "trace/run.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

struct Extent {
  base::Nanos start = std::numeric_limits<base::Nanos>::max();
  base::Nanos end = std::numeric_limits<base::Nanos>::min();
  void add(base::Nanos time) {
    if (time == memory::kNoTime) return;
    start = std::min(start, time);
    end = std::max(end, time);
  }
};

Extent extent_of(const memory::Snapshot& snapshot) {
  Extent extent;
  for (const memory::History& history : snapshot.histories) {
    for (const base::Nanos time : history.time.span()) extent.add(time);
  }
  for (const memory::Annotation& annotation : snapshot.annotations) extent.add(annotation.time);
  return extent;
}

// The steps of one window on the wall clock, where they touch what the snapshot saw.
void add_snapshot_steps(std::vector<SnapshotStep>& steps, const trace::Trace& trace,
                        const Extent& extent) {
  if (!trace.clock().base_known || trace.steps().source == trace::StepSource::kWhole) return;
  const base::Nanos zero = trace.clock().zero_unix_ns();
  // The host's spans: allocations are made by the host, ahead of the device.
  for (const trace::Step& step : trace.steps().list) {
    const base::Nanos start = step.start + zero;
    const base::Nanos end = step.end + zero;
    if (end < extent.start || start > extent.end) continue;
    steps.push_back({.number = step.number, .start = start, .end = end});
  }
}

// The steps of the rank: what its process recorded has all of them, a trace those of its window.
std::vector<SnapshotStep> steps_of_trace(const trace::Run& run, std::int32_t rank,
                                         const Extent& extent) {
  std::vector<SnapshotStep> recorded;
  std::vector<SnapshotStep> traced;
  for (const trace::RankTraces& traces : run.ranks) {
    if (traces.rank.value != rank) continue;
    for (const trace::Window& window : traces.windows) {
      add_snapshot_steps(window.trace.is_recording() ? recorded : traced, window.trace, extent);
    }
  }
  return recorded.empty() ? traced : recorded;
}

std::vector<SnapshotStep> steps_of_annotations(const memory::Snapshot& snapshot,
                                               const Extent& extent) {
  std::map<std::int64_t, SnapshotStep> open;
  std::vector<SnapshotStep> steps;
  for (const memory::Annotation& annotation : snapshot.annotations) {
    const auto number = trace::step_number(snapshot.text(annotation.name));
    if (!number || annotation.time == memory::kNoTime) continue;
    if (annotation.is_start) {
      open.try_emplace(*number, SnapshotStep{.number = *number, .start = annotation.time});
    } else if (const auto found = open.find(*number); found != open.end()) {
      found->second.end = annotation.time;
      steps.push_back(found->second);
      open.erase(found);
    }
  }
  for (auto& [number, step] : open) {  // still running when the snapshot was taken
    step.end = std::max(extent.end, step.start);
    steps.push_back(step);
  }
  return steps;
}

// Without marked steps, an optimizer's step ends one.
std::vector<SnapshotStep> steps_of_optimizer(const memory::Snapshot& snapshot,
                                             const Extent& extent) {
  std::vector<base::Nanos> ends;
  for (const memory::Annotation& annotation : snapshot.annotations) {
    if (annotation.is_start || annotation.time == memory::kNoTime) continue;
    if (snapshot.text(annotation.name).starts_with("Optimizer.step#")) {
      ends.push_back(annotation.time);
    }
  }
  std::ranges::sort(ends);
  const auto twins = std::ranges::unique(ends);
  ends.erase(twins.begin(), twins.end());
  std::vector<SnapshotStep> steps;
  base::Nanos start = std::min(extent.start, ends.empty() ? extent.start : ends.front());
  for (const base::Nanos end : ends) {
    steps.push_back({.number = std::ssize(steps), .start = start, .end = end});
    start = end;
  }
  return steps;
}

// By start; one that begins before the last has ended is cut to begin there.
void put_in_order(std::vector<SnapshotStep>& steps) {
  std::ranges::stable_sort(steps, {}, &SnapshotStep::start);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    steps[i].start = std::max(steps[i].start, steps[i - 1].end);
    steps[i].end = std::max(steps[i].end, steps[i].start);
  }
}

void find_steps(SnapshotView& view, const trace::Run& run) {
  const Extent extent = extent_of(*view.snapshot);
  view.steps_from = StepsFrom::kTrace;
  view.steps = steps_of_trace(run, view.rank, extent);
  if (view.steps.empty()) {
    view.steps_from = StepsFrom::kAnnotations;
    view.steps = steps_of_annotations(*view.snapshot, extent);
  }
  if (view.steps.empty()) {
    view.steps_from = StepsFrom::kOptimizer;
    view.steps = steps_of_optimizer(*view.snapshot, extent);
  }
  if (view.steps.empty()) view.steps_from = StepsFrom::kNowhere;
  put_in_order(view.steps);
}

// The end of the path that begins after so many slashes from its end.
std::string_view tail_of(std::string_view path, std::size_t folders) {
  std::size_t at = path.size();
  for (std::size_t i = 0; i <= folders; ++i) {
    if (at == 0) return path;
    at = path.rfind('/', at - 1);
    if (at == std::string_view::npos) return path;
  }
  return path.substr(at + 1);
}

std::string_view path_of(const SnapshotView& view) { return view.snapshot->source.path; }
std::string_view path_of(const ExportedView& view) { return view.timeline->source.path; }
std::string_view path_of(const StatsView& view) { return view.stats->source.path; }

template <class View>
void add_labels(std::vector<View>& views) {
  constexpr std::size_t kMostFolders = 16;
  for (std::size_t folders = 0; folders <= kMostFolders; ++folders) {
    std::map<std::string_view, std::size_t> seen;
    for (View& view : views) {
      const std::string_view tail = tail_of(path_of(view), folders);
      ++seen[tail];
      view.label = tail;
    }
    if (seen.size() == views.size()) return;
  }
}

}  // namespace

std::vector<SnapshotView> view_snapshots(std::span<const memory::Snapshot> snapshots,
                                         const trace::Run& run) {
  std::vector<SnapshotView> views(snapshots.size());
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    SnapshotView& view = views[i];
    view.snapshot = &snapshots[i];
    view.rank_known = snapshots[i].rank.has_value();
    view.rank = snapshots[i].rank.value_or(0);
    find_steps(view, run);
  }
  add_labels(views);
  return views;
}

std::vector<ExportedView> view_timelines(std::span<const memory::Timeline> timelines,
                                         const trace::Run& run) {
  std::vector<ExportedView> views(timelines.size());
  for (std::size_t i = 0; i < timelines.size(); ++i) {
    views[i].timeline = &timelines[i];
    views[i].rank = timelines[i].rank.value_or(0);
    Extent extent;
    for (const memory::TimelinePoint& point : timelines[i].points) extent.add(point.time);
    views[i].steps = steps_of_trace(run, views[i].rank, extent);
    put_in_order(views[i].steps);
  }
  add_labels(views);
  return views;
}

std::vector<StatsView> view_stats(std::span<const memory::Stats> stats) {
  std::vector<StatsView> views(stats.size());
  for (std::size_t i = 0; i < stats.size(); ++i) {
    views[i].stats = &stats[i];
    views[i].rank = stats[i].rank.value_or(0);
  }
  add_labels(views);
  return views;
}

}  // namespace stepscope::analysis
