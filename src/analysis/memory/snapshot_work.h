// What analyses work out of one snapshot, done once for all of them: allocations, categories, the
// allocator followed, and where the steps begin. Pinned host memory has another allocator and is
// not among it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/memory/history/allocations.h"
#include "analysis/memory/owners/categories.h"
#include "analysis/memory/owners/passes.h"
#include "analysis/memory/owners/representative_frame.h"
#include "analysis/memory/replay/replay.h"
#include "analysis/memory/snapshot_view.h"
#include "analysis/prepared.h"

namespace stepscope::analysis {

// Where training steps begin in a history, by event. From the steps the recording marks; else from
// its backward passes; else the history is cut into equal parts, which are not steps.

enum class StepBorders : std::uint8_t { kMarked, kBackwardPasses, kEqualParts };

struct StepEvents {
  StepBorders from = StepBorders::kEqualParts;
  std::vector<std::int64_t> number;  // of each step; its place where nothing numbers them
  std::vector<std::uint32_t> begin;  // first event of each step
  std::uint32_t end = 0;             // past the last event of the last step
  bool counted = false;              // the marked numbers repeat or fall: places stand for them

  std::size_t size() const { return begin.size(); }
  // The step an event belongs to; -1: before the first, or after the last.
  std::int32_t at(std::uint32_t event) const;
};

inline constexpr std::size_t kEqualParts = 12;

StepEvents step_events(std::span<const SnapshotStep> steps, const memory::History& history,
                       const Passes& passes);

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

// What every memory analysis says of a snapshot before its own findings: what its history covers.

// Neither events nor blocks: nothing to say of this device.
bool is_empty(const HistoryWork& work);

// "snap.pickle, device 0: …".
std::string said_of(const SnapshotView& view, const HistoryWork& work, std::string_view what);

// A sentence if there was nothing to put into the first table and nothing else was said.
void say_if_nothing(Answer& answer);

// A sentence where the steps of the recording are counted by place, as its own numbers repeat.
void say_if_counted(Answer& answer, const SnapshotView& view, const HistoryWork& work);

// What is older than the history, what was lost, and where stacks are missing.
void add_remarks(Answer& answer, const SnapshotView& view, const HistoryWork& work);

}  // namespace stepscope::analysis
