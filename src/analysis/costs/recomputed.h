// Which operator calls do again, in the backward pass, what the forward pass had done: activation
// checkpointing, by whichever of its ways. Definition: docs/metrics/mfu.md.
#pragma once

#include <vector>

#include "analysis/operators/op_calls.h"

namespace stepscope::analysis {

class RecomputedCalls {
 public:
  RecomputedCalls(const trace::Trace& trace, const OpCalls& ops);
  // Of OpCalls::calls.
  bool operator[](std::uint32_t call) const;

 private:
  struct Place {
    std::uint32_t node = OpCall::kNone;  // the call with which the engine announces its node
    bool checkpointed = false;           // inside reentrant checkpointing's own node
    bool recorded = false;  // inside a call that autograd records, though it runs in a node
    bool has_own = false;   // of a node: its formula is not recorded, as is usual
  };
  class Finding;

  const OpCalls* ops_;
  std::vector<Place> places_;  // by call
  std::vector<bool> hooked_;   // by row; empty: none
};

}  // namespace stepscope::analysis
