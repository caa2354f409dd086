// What every analysis reads: the events of a run, prepared once. So "busy", "step" and
// "communication" mean the same in every answer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/costs/peaks.h"
#include "analysis/device/classes.h"
#include "analysis/memory/snapshot_view.h"
#include "analysis/steps/step_times.h"
#include "base/parallel.h"
#include "base/result.h"
#include "trace/run.h"

namespace stepscope::series {
struct Node;
}

namespace stepscope::analysis {

// One piece of device work.
struct Work {
  base::Nanos start = 0, end = 0;
  trace::Row row = trace::kNoRow;
  trace::Row launch = trace::kNoRow;  // the call that started it, or kNoRow
  std::uint32_t stream = 0;           // index into WindowView::streams
  std::int32_t step = -1;             // index into WindowView::steps; -1: of no step
  WorkClass work_class = WorkClass::kCompute;

  base::Nanos length() const { return end - start; }
};

struct StreamView {
  std::int32_t device = -1;
  std::int64_t stream = -1;         // as the file numbers it
  std::vector<std::uint32_t> work;  // indices into WindowView::work, by start
};

struct DeviceView {
  std::int32_t device = -1;
  std::size_t begin = 0, end = 0;  // in WindowView::work
  std::string name;                // "NVIDIA H200", or empty
  // When work of each sort ran, whichever the stream; memory = copies and sets.
  Intervals compute, communication, memory, busy;
};

// See prepared.h.
struct Prepared;
std::shared_ptr<Prepared> make_prepared();

struct WindowView {
  const trace::Trace* trace = nullptr;
  std::int32_t rank = 0;
  std::uint32_t window = 0;
  std::vector<Work> work;           // by device, then start, then row
  std::vector<StreamView> streams;  // by device, then stream
  std::vector<DeviceView> devices;  // by number
  std::vector<StepTime> steps;      // by start; at least one
  bool has_steps = false;           // false: the only step is the whole window
  Intervals measured;               // the selected steps, corrected: what breakdowns break down

  base::Nanos measured_ns() const { return total(measured); }
  // Whether counted tables take this piece: all of them unless the user chose steps, or only what
  // lies between the first and the last was asked for.
  bool counts(const Work& piece) const {
    if (between) return lies_between(piece);
    return !chosen || (piece.step >= 0 && steps[static_cast<std::size_t>(piece.step)].selected);
  }
  bool counts_at(base::Nanos host_time) const {
    if (between) return host_time >= between->start && host_time < between->end;
    if (!chosen) return true;
    const std::int32_t step = step_at(steps, host_time);
    return step >= 0 && steps[static_cast<std::size_t>(step)].selected;
  }
  std::span<const Work> work_of(const DeviceView& device) const {
    return std::span(work).subspan(device.begin, device.end - device.begin);
  }
  bool lies_between(const Work& piece) const {
    if (piece.launch == trace::kNoRow) {
      return piece.start >= steps.front().span.start && piece.start < steps.back().span.end;
    }
    const base::Nanos launched = trace->start()[piece.launch];
    return launched >= steps.front().host.start && launched < steps.back().host.end;
  }
  bool chosen = false;  // the user chose steps
  // Of the host, from the beginning of the first step to the end of the last, where nothing else is
  // to be counted.
  std::optional<Interval> between = std::nullopt;
  // What several analyses start from, each part made when it is first asked for.
  std::shared_ptr<Prepared> prepared = make_prepared();
};

struct Selection {
  std::vector<std::int32_t> ranks = {};  // empty: all
  std::vector<std::int64_t> steps = {};  // by number; empty: all
  std::vector<OwnPeaks> peaks = {};      // of devices the user knows better
  // Of traces with steps, what comes before the first and after the last is not counted: for sums
  // that are to be divided by the number of steps. Not beside chosen steps.
  bool between_steps = false;
};

struct RunView {
  std::vector<WindowView> windows;     // by rank, then by start; see make_view
  std::vector<WindowView> recordings;  // what processes recorded of themselves; by rank, then start
  std::vector<SnapshotView> snapshots;  // by rank, then by file name; so below
  std::vector<ExportedView> timelines;  // of torch.profiler's export_memory_timeline
  std::vector<StatsView> stats;         // of torch.cuda.memory_stats
  std::vector<OwnPeaks> own_peaks;      // of the user
  unsigned threads = 1;
  std::span<const series::Node> nodes = {};  // machines that were sampled; by host, then time
  bool has_trace() const;  // of a profiler; without one, recordings stand in for it
  bool has_device_work() const;
};

// A step that a profiler traced is in the trace and in what the process recorded of itself, so the
// windows are traces alone; only where no chosen rank has one they are recordings.
// Fails when a chosen rank or step does not exist. What is viewed must outlive the view.
base::Result<RunView> make_view(const trace::Run& run, const MemoryFiles& memory,
                                const Selection& selection, unsigned threads);

// Calls compute(window) for every window in parallel; the results are in the order of the windows.
template <class Partial, class Compute>
std::vector<Partial> per_window(const RunView& view, Compute compute) {
  std::vector<Partial> partials(view.windows.size());
  base::parallel_for(view.windows.size(), view.threads,
                     [&](std::size_t i) { partials[i] = compute(view.windows[i]); });
  return partials;
}

// Whether a trace holds so much before its first step or after its last that sums over all of it,
// divided by the number of steps, say nothing of a step.
bool has_much_beside_steps(const RunView& view);

// Where the steps of a window are a guess: the largest share of a recording that such steps leave
// out. Nothing: no window has guessed steps.
std::optional<double> left_out_by_guess(const RunView& view);

// The sentence for recordings in which nothing marks steps; empty where all of them have steps.
std::string why_no_steps(const RunView& view);

// The sentence for a run that has no device work, by what it has instead.
std::string why_no_device_work(const RunView& view);

// What analyses say of a trace without GPU work, which a page says once.

inline constexpr std::string_view kNoGpuWork =
    "The trace has no GPU work: it was recorded on the host alone, or without the GPU activity.";

}  // namespace stepscope::analysis
