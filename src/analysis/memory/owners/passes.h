// When forward, backward and optimizer ran, known from the stacks of allocations and frees. The
// calling thread waits while the backward pass runs, so the parts of a step follow each other in
// the history.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {

// What a call stack says about an allocation: which part of training asked for it. The rules are
// about torch's own files and the names every framework uses, never about one model. The innermost
// call that says something decides; outer calls only add whether the backward pass was running.

enum class Place : std::uint8_t {
  kNoStack,        // nothing was recorded: no stack at all, or a thread without Python
  kProgram,        // the program itself, nothing known says what for
  kSetup,          // making, loading or moving modules
  kForward,        //
  kRecompute,      // a forward called from the backward pass
  kBackward,       //
  kOptimizer,      // a step of the optimizer, clipping included
  kInput,          // loading and moving batches
  kCommunication,  //
};

struct StackSign {
  Place place = Place::kNoStack;
  bool moves_module = false;  // Module._apply: to(), cuda(), half()
  bool makes_state = false;   // the optimizer's own place for making its state
  bool reduces = false;       // communication that adds up gradients
  bool is_workspace = false;  // scratch memory a library keeps for itself
};

// By StackId.
std::vector<StackSign> stack_signs(const memory::Snapshot& snapshot);

enum class PassKind : std::uint8_t { kForward, kBackward, kOptimizer };
std::string_view name_of(PassKind kind);

struct Pass {
  PassKind kind = PassKind::kForward;
  std::uint32_t begin = 0, end = 0;  // events: the first of it, and one past the last
};

struct Passes {
  bool has_stacks = false;   // no: nothing is known
  std::vector<Pass> list;    // in order
  std::vector<Place> place;  // by event; of frees too, where they have stacks
  std::vector<std::uint32_t> next_forward, next_backward;  // first event at or after; kNoEvent
  std::vector<std::uint32_t> ooms;                         // events, ascending
  std::vector<std::uint32_t> backwards_before = {
      0};  // by pass and at the end: how many backward passes are before it

  // The pass of this kind that has the event, or kNoEvent.
  std::uint32_t pass_of(std::uint32_t event, PassKind kind) const;
  // How many backward passes begin after this event.
  std::uint32_t backwards_after(std::uint32_t event) const;
};

Passes find_passes(const memory::Snapshot& snapshot, const memory::History& history,
                   std::span<const StackSign> signs);

}  // namespace stepscope::analysis
