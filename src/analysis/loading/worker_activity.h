// When the worker processes of a loader made batches, for questions about a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct WorkerActivity {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string name;  // "worker 3 of DataLoader"
  Intervals active;  // on the wall clock
};

// By rank, then loader, worker and process.
std::vector<WorkerActivity> worker_activity(const RunView& view);

// Time of the measured steps of a window; nothing where the window's clock is not known or the
// worker had ended before it, or began after it.
std::optional<base::Nanos> active_within(const WorkerActivity& worker, const WindowView& window);

}  // namespace stepscope::analysis
