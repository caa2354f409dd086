// When forward, backward and optimizer ran, told from the stacks of allocations and frees. The
// calling thread waits while the backward pass runs, so the parts of a step follow each other in
// the history.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "analysis/memory/owners/stack_signs.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {

enum class PassKind : std::uint8_t { kForward, kBackward, kOptimizer };
std::string_view name_of(PassKind kind);

struct Pass {
  PassKind kind = PassKind::kForward;
  std::uint32_t begin = 0, end = 0;  // events: the first of it, and one behind the last
};

struct Passes {
  bool has_stacks = false;   // no: nothing is known
  std::vector<Pass> list;    // in order
  std::vector<Place> place;  // by event; of frees too, where they have stacks
  std::vector<std::uint32_t> next_forward, next_backward;  // first event at or behind; kNoEvent
  std::vector<std::uint32_t> ooms;                         // events, ascending
  std::vector<std::uint32_t> backwards_before = {
      0};  // by pass and at the end: how many backward passes are before it

  // The pass of this kind that has the event, or kNoEvent.
  std::uint32_t pass_of(std::uint32_t event, PassKind kind) const;
  // How many backward passes begin behind this event.
  std::uint32_t backwards_after(std::uint32_t event) const;
};

Passes find_passes(const memory::Snapshot& snapshot, const memory::History& history,
                   std::span<const StackSign> signs);

}  // namespace stepscope::analysis
