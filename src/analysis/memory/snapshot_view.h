// What every memory analysis reads: a snapshot, and what was worked out of it once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/prepared.h"
#include "base/units.h"

namespace stepscope::memory {
struct Snapshot;
struct Stats;
struct Timeline;
}  // namespace stepscope::memory
namespace stepscope::trace {
struct Run;
}

namespace stepscope::analysis {

// A training step on the snapshot's axis, which is the wall clock: nanoseconds since 1970.
struct SnapshotStep {
  std::int64_t number = 0;
  base::Nanos start = 0, end = 0;
  bool selected = true;  // by the user; all of them if none was chosen
};

// Who says where the steps are.
enum class StepsFrom : std::uint8_t {
  kNowhere,
  kTrace,        // of the same rank and time
  kAnnotations,  // ProfilerStep#3 and its like in the snapshot
  kOptimizer,    // a step ends with Optimizer.step; numbered from 0
};

struct SnapshotWork;
struct SnapshotView {
  const memory::Snapshot* snapshot = nullptr;
  std::int32_t rank = 0;
  bool rank_known = false;  // by the file's name
  std::string label;        // short and different for each snapshot: the file's name, or more of it
  std::vector<SnapshotStep> steps;  // by start; they do not overlap
  StepsFrom steps_from = StepsFrom::kNowhere;
  // Read it through work_of(view).
  std::shared_ptr<OnDemand<SnapshotWork>> work = std::make_shared<OnDemand<SnapshotWork>>();
};

// Bytes by category over time, as torch.profiler exported them.
struct ExportedView {
  const memory::Timeline* timeline = nullptr;
  std::int32_t rank = 0;
  std::string label;
  std::vector<SnapshotStep> steps;  // of a trace of the same rank and time
};

// torch's own counters.
struct StatsView {
  const memory::Stats* stats = nullptr;
  std::int32_t rank = 0;
  std::string label;
};

// What was recorded of memory.
struct MemoryFiles {
  std::span<const memory::Snapshot> snapshots = {};
  std::span<const memory::Timeline> timelines = {};
  std::span<const memory::Stats> stats = {};
};

// One view per snapshot, with its label and its steps: from the traces of the same rank where they
// were recorded at the same time, else from the snapshot's own annotations.
std::vector<SnapshotView> view_snapshots(std::span<const memory::Snapshot> snapshots,
                                         const trace::Run& run);
std::vector<ExportedView> view_timelines(std::span<const memory::Timeline> timelines,
                                         const trace::Run& run);
std::vector<StatsView> view_stats(std::span<const memory::Stats> stats);

}  // namespace stepscope::analysis
