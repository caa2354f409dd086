// Where training steps begin in a history, by event. From the steps the recording marks; else from
// its backward passes; else the history is cut into equal parts, which are not steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/owners/passes.h"
#include "analysis/memory/snapshot_view.h"

namespace stepscope::analysis {

enum class StepBorders : std::uint8_t { kMarked, kBackwardPasses, kEqualParts };

struct StepEvents {
  StepBorders from = StepBorders::kEqualParts;
  std::vector<std::int64_t> number;  // of each step; its place where nothing numbers them
  std::vector<std::uint32_t> begin;  // first event of each step
  std::uint32_t end = 0;             // behind the last event of the last step
  bool counted = false;              // the marked numbers repeat or fall: places stand for them

  std::size_t size() const { return begin.size(); }
  // The step an event belongs to; -1: before the first, or behind the last.
  std::int32_t at(std::uint32_t event) const;
};

inline constexpr std::size_t kEqualParts = 12;

StepEvents step_events(std::span<const SnapshotStep> steps, const memory::History& history,
                       const Passes& passes);

}  // namespace stepscope::analysis
