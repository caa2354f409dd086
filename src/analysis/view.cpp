// Prepares the events of a run once for every analysis.
#include "analysis/view.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/prepared.h"
#include "trace/process_record.h"
#include "trace/step_finder.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

struct ViewPlace {
  std::int32_t device;
  std::int64_t stream;
  auto operator<=>(const ViewPlace&) const = default;
};

std::int32_t view_step_of(const WindowView& view, const Work& piece) {
  if (piece.launch != trace::kNoRow) {
    return step_at(view.steps, view.trace->start()[piece.launch]);
  }
  // Without its call, the step during which it ran.
  const auto after = std::ranges::upper_bound(view.steps, piece.start, {},
                                              [](const StepTime& step) { return step.span.start; });
  if (after == view.steps.begin()) return -1;
  const auto step = after - 1;
  return piece.start < step->span.end ? static_cast<std::int32_t>(step - view.steps.begin()) : -1;
}

void collect_work(WindowView& view) {
  const trace::Trace& trace = *view.trace;
  const trace::DeviceTable& device = trace.device();
  Classifier classify(trace);
  std::map<ViewPlace, std::uint32_t> places;  // numbered as they come
  ViewPlace last_place{};
  std::uint32_t last = 0;
  view.work.reserve(device.rows.size());
  device.rows.for_each([&](Row row, std::uint32_t entry) {
    if (!is_device_work(trace.kind()[row])) return;
    if ((trace.flags()[row] & trace::kFarTime) != 0) return;
    Work piece{.start = trace.start()[row],
               .end = trace.end(row),
               .row = row,
               .launch = device.launch[entry],
               .work_class = classify.work(row)};
    piece.step = view_step_of(view, piece);
    // Where an event does not say its device and stream, its track does.
    const trace::Track& track = trace.tracks()[trace.track()[row]];
    const ViewPlace place{device.device[entry] < 0 ? track.device : device.device[entry],
                          device.stream[entry] < 0 ? track.stream : device.stream[entry]};
    // Work of one stream stands together.
    if (places.empty() || place != last_place) {
      last = places.emplace(place, static_cast<std::uint32_t>(places.size())).first->second;
      last_place = place;
    }
    piece.stream = last;
    view.work.push_back(piece);
  });

  std::vector<std::uint32_t> by_place(places.size());
  for (const auto& [place, number] : places) {
    by_place[number] = static_cast<std::uint32_t>(view.streams.size());
    view.streams.push_back({place.device, place.stream, {}});
  }
  for (Work& piece : view.work) piece.stream = by_place[piece.stream];
  sort_runs(view.work, [&](const Work& a, const Work& b) {
    const std::int32_t device_a = view.streams[a.stream].device;
    const std::int32_t device_b = view.streams[b.stream].device;
    return std::tie(device_a, a.start, a.row) < std::tie(device_b, b.start, b.row);
  });
  for (std::uint32_t i = 0; i < view.work.size(); ++i) {
    view.streams[view.work[i].stream].work.push_back(i);
  }
}

std::string device_name(const trace::Trace& trace, std::int32_t device) {
  const trace::DeviceProperties* properties = trace::described(trace.header(), device);
  return properties == nullptr ? std::string() : properties->name;
}

void collect_devices(WindowView& view) {
  for (std::size_t begin = 0; begin < view.work.size();) {
    DeviceView device;
    device.device = view.streams[view.work[begin].stream].device;
    device.begin = begin;
    device.name = device_name(*view.trace, device.device);
    Union compute;
    Union communication;
    Union memory;
    Union busy;
    std::size_t at = begin;
    for (; at < view.work.size(); ++at) {
      const Work& piece = view.work[at];
      if (view.streams[piece.stream].device != device.device) break;
      busy.add(piece.start, piece.end);
      Union& sort = piece.work_class == WorkClass::kCompute         ? compute
                    : piece.work_class == WorkClass::kCommunication ? communication
                                                                    : memory;
      sort.add(piece.start, piece.end);
    }
    device.end = at;
    device.compute = compute.take();
    device.communication = communication.take();
    device.memory = memory.take();
    device.busy = busy.take();
    view.devices.push_back(std::move(device));
    begin = at;
  }
}

void choose_steps(WindowView& view, const Selection& selection) {
  view.chosen = !selection.steps.empty();
  Union measured;
  for (StepTime& step : view.steps) {
    step.selected = selection.steps.empty() ||
                    std::ranges::find(selection.steps, step.number) != selection.steps.end();
    if (step.selected) measured.add(step.span.start, step.span.end);
  }
  view.measured = measured.take();
}

// A window without steps is one step from its first event to its last, device work included.
void add_whole_step(WindowView& view) {
  const trace::Span span = view.trace->span();
  view.steps.push_back({.number = 0,
                        .host = {span.start, span.end + 1},
                        .span = {span.start, span.end},
                        .work = view.trace->device().rows.size()});
}

WindowView prepare(const trace::Window& window, std::int32_t rank, std::uint32_t number,
                   const Selection& selection) {
  WindowView view;
  view.trace = &window.trace;
  view.rank = rank;
  view.window = number;
  view.has_steps = window.trace.steps().source != trace::StepSource::kWhole;
  if (view.has_steps) view.steps = step_times(window.trace);
  if (view.steps.empty()) {
    view.has_steps = false;
    add_whole_step(view);
  }
  collect_work(view);
  collect_devices(view);
  choose_steps(view, selection);
  return view;
}

bool is_chosen(const Selection& selection, std::int32_t rank) {
  return selection.ranks.empty() ||
         std::ranges::find(selection.ranks, rank) != selection.ranks.end();
}

struct WindowSource {
  const trace::Window* window;
  std::int32_t rank;
  std::uint32_t number;
};

struct Sources {
  std::vector<WindowSource> traces, recordings;
};

Sources sources_of(const trace::Run& run, const Selection& selection) {
  Sources sources;
  for (const trace::RankTraces& rank : run.ranks) {
    if (!is_chosen(selection, rank.rank.value)) continue;
    for (std::uint32_t w = 0; w < rank.windows.size(); ++w) {
      const trace::Window& window = rank.windows[w];
      const bool recording = window.trace.is_recording();
      (recording ? sources.recordings : sources.traces).push_back({&window, rank.rank.value, w});
    }
  }
  return sources;
}

std::vector<WindowView> prepare(const std::vector<WindowSource>& sources,
                                const Selection& selection, unsigned threads) {
  std::vector<WindowView> views(sources.size());
  base::parallel_for(sources.size(), threads, [&](std::size_t i) {
    views[i] = prepare(*sources[i].window, sources[i].rank, sources[i].number, selection);
  });
  return views;
}

bool is_cut_within_its_first_step(const WindowView& window) {
  return window.trace->steps().source == trace::StepSource::kProfilerStep &&
         window.trace->steps().list.empty();
}

// A window that ended within its first step has no step to measure; where its rank has others,
// traced or not, it is no step of its own beside theirs.
void leave_out_cut_windows(std::vector<WindowView>& windows,
                           const std::vector<WindowView>& recordings) {
  std::set<std::int32_t> with_steps;
  for (const std::vector<WindowView>* views : {&std::as_const(windows), &recordings}) {
    for (const WindowView& view : *views) {
      if (view.has_steps) with_steps.insert(view.rank);
    }
  }
  std::erase_if(windows, [&](const WindowView& window) {
    return is_cut_within_its_first_step(window) && with_steps.contains(window.rank);
  });
}

bool is_worker(const WindowView& view) { return view.trace->header().process_record->is_worker; }

// Workers know no steps: theirs are those of their rank, by the wall clock.
void lend_steps(std::vector<WindowView>& recordings, const Selection& selection) {
  for (WindowView& worker : recordings) {
    if (worker.has_steps || !is_worker(worker)) continue;
    const auto lender = std::ranges::find_if(recordings, [&](const WindowView& other) {
      return other.rank == worker.rank && other.has_steps && !is_worker(other);
    });
    if (lender == recordings.end()) continue;
    const base::Nanos shift =
        lender->trace->clock().zero_unix_ns() - worker.trace->clock().zero_unix_ns();
    worker.steps = lender->steps;
    for (StepTime& step : worker.steps) {
      for (Interval* span : {&step.host, &step.span}) {
        span->start += shift;
        span->end += shift;
      }
    }
    choose_steps(worker, selection);
  }
}

// Where nothing was traced, questions about a trace are answered by what the training processes
// recorded: steps and ranges.
std::vector<WindowView> stand_ins(const std::vector<WindowView>& recordings) {
  std::vector<WindowView> trainers;
  std::ranges::copy_if(recordings, std::back_inserter(trainers), std::not_fn(is_worker));
  return trainers.empty() ? recordings : trainers;
}

template <class Numbers>
std::string listed(const Numbers& numbers) {
  if (numbers.empty()) return "none";
  const auto first = *numbers.begin();
  const auto last = *numbers.rbegin();
  if (std::cmp_equal(last - first + 1, numbers.size())) {
    return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

base::Status check(const trace::Run& run, const RunView& view, const Selection& selection) {
  std::set<std::int64_t> ranks;
  std::set<std::int64_t> steps;
  bool any_steps = false;
  for (const trace::RankTraces& rank : run.ranks) {
    ranks.insert(rank.rank.value);
    if (!is_chosen(selection, rank.rank.value)) continue;
    for (const trace::Window& window : rank.windows) {
      const bool whole = window.trace.steps().source == trace::StepSource::kWhole;
      any_steps |= !whole && !window.trace.steps().list.empty();
      if (whole) steps.insert(0);
      for (const trace::Step& step : window.trace.steps().list) steps.insert(step.number);
    }
  }
  for (const ExportedView& timeline : view.timelines) ranks.insert(timeline.rank);
  for (const StatsView& stats : view.stats) ranks.insert(stats.rank);
  for (const SnapshotView& snapshot : view.snapshots) {
    ranks.insert(snapshot.rank);
    if (!is_chosen(selection, snapshot.rank)) continue;
    for (const SnapshotStep& step : snapshot.steps) {
      any_steps = true;
      steps.insert(step.number);
    }
  }
  for (const std::int32_t rank : selection.ranks) {
    if (ranks.contains(rank)) continue;
    return base::fail(base::Code::kNotFound,
                      fmt::format("there is no rank {}; ranks here: {}", rank, listed(ranks)));
  }
  for (const std::int64_t step : selection.steps) {
    if (steps.contains(step)) continue;
    return base::fail(
        base::Code::kNotFound,
        any_steps ? fmt::format("there is no step {}; steps here: {}", step, listed(steps))
                  : fmt::format("there is no step {}: nothing marks steps in this trace, so all of "
                                "it is step 0",
                                step));
  }
  return base::Done{};
}

}  // namespace

std::shared_ptr<Prepared> make_prepared() { return std::make_shared<Prepared>(); }

bool RunView::has_trace() const {
  return std::ranges::any_of(
      windows, [](const WindowView& window) { return !window.trace->is_recording(); });
}

bool RunView::has_device_work() const {
  return std::ranges::any_of(windows, [](const WindowView& w) { return !w.work.empty(); });
}

base::Result<RunView> make_view(const trace::Run& run, const MemoryFiles& memory,
                                const Selection& selection, unsigned threads) {
  RunView view;
  view.threads = threads;
  view.own_peaks = selection.peaks;
  view.snapshots = view_snapshots(memory.snapshots, run);
  view.timelines = view_timelines(memory.timelines, run);
  view.stats = view_stats(memory.stats);
  SCOPE_TRY(check(run, view, selection));
  const auto is_left_out = [&](const auto& one) { return !is_chosen(selection, one.rank); };
  std::erase_if(view.snapshots, is_left_out);
  std::erase_if(view.timelines, is_left_out);
  std::erase_if(view.stats, is_left_out);
  for (SnapshotView& snapshot : view.snapshots) {
    for (SnapshotStep& step : snapshot.steps) {
      step.selected = selection.steps.empty() ||
                      std::ranges::find(selection.steps, step.number) != selection.steps.end();
    }
  }
  const Sources sources = sources_of(run, selection);
  view.windows = prepare(sources.traces, selection, threads);
  view.recordings = prepare(sources.recordings, selection, threads);
  if (selection.between_steps && selection.steps.empty()) {
    for (WindowView& window : view.windows) {
      if (!window.has_steps) continue;
      window.between = {window.steps.front().host.start, window.steps.back().host.end};
    }
  }
  leave_out_cut_windows(view.windows, view.recordings);
  lend_steps(view.recordings, selection);
  if (view.windows.empty()) view.windows = stand_ins(view.recordings);
  return view;
}

bool has_much_beside_steps(const RunView& view) {
  constexpr double kMuchWork = 0.01;  // of the device's
  constexpr double kMuchTime = 0.1;   // of the recording's
  return std::ranges::any_of(view.windows, [](const WindowView& window) {
    if (!window.has_steps || window.chosen || window.trace->is_recording()) return false;
    base::Nanos all = 0;
    base::Nanos beside = 0;
    for (const Work& piece : window.work) {
      all += piece.length();
      beside += window.lies_between(piece) ? 0 : piece.length();
    }
    const base::Nanos recorded = window.trace->span().length();
    const base::Nanos stepped = window.steps.back().host.end - window.steps.front().host.start;
    return static_cast<double>(beside) > kMuchWork * static_cast<double>(all) ||
           static_cast<double>(recorded - stepped) > kMuchTime * static_cast<double>(recorded);
  });
}

std::optional<double> left_out_by_guess(const RunView& view) {
  std::optional<double> most;
  for (const WindowView& window : view.windows) {
    if (!window.has_steps || !trace::is_guessed(window.trace->steps().source)) continue;
    most = std::max(most.value_or(0), trace::share_left_out(*window.trace));
  }
  return most;
}

std::string why_no_steps(const RunView& view) {
  const auto without =
      static_cast<std::size_t>(std::ranges::count(view.windows, false, &WindowView::has_steps));
  if (without == 0) {
    const std::optional<double> left_out = left_out_by_guess(view);
    if (!left_out) return {};
    return fmt::format(
        "Nothing marks steps in this trace: these are a guess, what repeats on the device, and "
        "leave out {:.3g} % of the recording (mark them with profiler.step(), or name them with "
        "--steps).",
        *left_out * 100);
  }
  if (without == view.windows.size()) {
    if (std::ranges::all_of(view.windows, is_cut_within_its_first_step)) {
      return "The trace ended within its first step, so all of it counts as one step, number 0.";
    }
    return "Nothing marks steps in this trace, so all of it counts as one step, number 0 (mark "
           "them with profiler.step(), or name them with --steps).";
  }
  return fmt::format(
      "{} of {} recordings have no marked steps: all of such a recording counts as "
      "one step, number 0.",
      without, view.windows.size());
}

std::string why_no_device_work(const RunView& view) {
  if (!view.has_trace()) {
    return "Nothing was traced: what a process records of itself has no GPU work "
           "(stepscope.profile traces the steps its schedule names).";
  }
  const bool is_cut = std::ranges::any_of(
      view.windows, [](const WindowView& window) { return window.trace->log().lost_the_end(); });
  if (is_cut) {
    return "The part of the trace that could be read has no GPU work: it may be in the part that "
           "is missing.";
  }
  bool calls = false;
  for (const WindowView& window : view.windows) calls |= window.trace->launches().rows.size() > 0;
  if (calls) {
    return "The trace has calls into the GPU runtime but not the work they started: the profiler "
           "could not record the device (see docs/start/no-gpu-events.md).";
  }
  return std::string(kNoGpuWork);
}

}  // namespace stepscope::analysis
