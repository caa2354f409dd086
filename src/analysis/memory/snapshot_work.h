// What analyses work out of one snapshot, done once for all of them: allocations, categories, the
// allocator followed, and where the steps begin. Pinned host memory has another allocator and is
// not among it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "analysis/memory/history/step_events.h"
#include "analysis/memory/owners/categories.h"
#include "analysis/memory/owners/representative_frame.h"
#include "analysis/memory/replay/replay.h"
#include "analysis/memory/snapshot_view.h"
#include "analysis/on_demand.h"

namespace stepscope::analysis {

struct Forecasts;

struct HistoryWork {
  const memory::History* history = nullptr;
  Allocations allocations;
  Replay replay;
  Categories categories;
  StepEvents steps;
  std::vector<std::uint32_t> group;  // by life: StackTexts::group of its stack
  // Read it through forecasts(work, …).
  std::shared_ptr<OnDemand<Forecasts>> forecasts = std::make_shared<OnDemand<Forecasts>>();

  // Since the first event; 0 where no times were recorded.
  base::Nanos at_ns(std::uint32_t event) const;
};

struct SnapshotWork {
  StackTexts texts;
  std::vector<HistoryWork> devices;  // in the order of Snapshot::histories

  explicit SnapshotWork(const SnapshotView& view);
};

// Made by the first who asks.
const SnapshotWork& work_of(const SnapshotView& view);

}  // namespace stepscope::analysis
