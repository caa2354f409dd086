// What a call stack says about an allocation: which part of training asked for it. The rules are
// about torch's own files and the names every framework uses, never about one model. The innermost
// call that says something decides; outer calls only add whether the backward pass was running.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/snapshot.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
