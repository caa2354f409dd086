#include "analysis/loading/worker_activity.h"

#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"

namespace stepscope::analysis {

std::vector<WorkerActivity> worker_activity(const RunView& view) {
  std::vector<WorkerActivity> out;
  const base::Nanos zero = recording_start(view);
  for (const auto& [rank, loading] : loading_by_rank(view)) {
    std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::vector<Interval>> workers;
    for (const MadeBatch& one : loading.made) {
      if (!one.worker) continue;
      workers[{one.loader, *one.worker, one.pid}].push_back({one.start + zero, one.end + zero});
    }
    for (auto& [key, spans] : workers) {
      const auto& [loader, worker, pid] = key;
      out.push_back({rank, pid, fmt::format("worker {} of {}", worker, loader),
                     sorted_union(std::move(spans))});
    }
  }
  return out;
}

std::optional<base::Nanos> active_within(const WorkerActivity& worker, const WindowView& window) {
  const trace::Clock& clock = window.trace->clock();
  if (!clock.base_known || worker.active.empty() || window.measured.empty()) return std::nullopt;
  const base::Nanos shift = clock.base_ns + clock.offset_ns;
  Intervals measured = window.measured;
  for (Interval& span : measured) {
    span.start += shift;
    span.end += shift;
  }
  if (worker.active.back().end <= measured.front().start ||
      measured.back().end <= worker.active.front().start) {
    return std::nullopt;
  }
  return common(worker.active, measured);
}

}  // namespace stepscope::analysis
