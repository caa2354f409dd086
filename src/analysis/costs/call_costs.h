// Which operator call owns which compute kernel's cost, and what that cost is. A kernel belongs to
// the innermost call around its launch that has a formula, or a count of the profiler; so linear →
// addmm is counted once, at addmm. Rules and formulas: docs/metrics/costs.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/costs/costs.h"
#include "analysis/costs/peaks.h"
#include "analysis/operators/op_calls.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// A call that owns compute work.
struct CostedCall {
  std::uint32_t call = OpCall::kNone;  // into OpCalls::calls
  std::uint32_t cost = 0;              // into CallCosts::costs
  Family family = Family::kCount;      // kCount: no formula
  Dtype dtype = Dtype::kUnknown;
  bool tensor_float = false;  // kernels that round 32-bit inputs to TF32 did it
  bool recomputed = false;    // a forward call that checkpointing runs a second time
  std::int32_t step = -1;     // of its first piece of work
  bool counted = false;       // work of a step that was asked for
  std::uint32_t kernels = 0;  // that could do its arithmetic
  base::Nanos compute_ns = 0;
};

// Calls in a row, of one node of the backward pass, that do forward work again: on the host, with
// what lies between them.
struct RecomputedStretch {
  base::Nanos start = 0, end = 0;
};

struct CallCosts {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<Cost> costs;             // one for each operator name with its inputs
  std::vector<CostedCall> calls;       // by OpCalls::calls
  std::vector<std::uint32_t> of_work;  // by WindowView::work: into calls, or kNone
  std::vector<RecomputedStretch> recomputed;
  const Cost& cost(const CostedCall& call) const { return costs[call.cost]; }
};

// Made once per window.
const CallCosts& call_costs(const WindowView& window);

// What the arithmetic of a call is compared with: nothing for types without a peak.
std::optional<Arithmetic> arithmetic_of(const CostedCall& call);
// At best, per second; 0: not known.
double peak_of(const Peaks& peaks, const CostedCall& call);

// What a kernel's name says, read once for each name.
class KernelNames {
 public:
  explicit KernelNames(const trace::Trace& trace)
      : trace_(&trace), signs_(trace.strings().size()) {}

  // It only adds up what others have computed.
  bool helps(trace::Row kernel) { return (signs_of(kernel) & kHelps) != 0; }
  // It multiplies 32-bit numbers as TF32.
  bool has_tensor_float(trace::Row kernel) { return (signs_of(kernel) & kTensorFloat) != 0; }

 private:
  static constexpr std::uint8_t kRead = 1, kHelps = 2, kTensorFloat = 4;
  std::uint8_t signs_of(trace::Row kernel) {
    const base::StringId name = trace_->name()[kernel];
    if (name >= signs_.size()) return kRead;
    if (signs_[name] == 0) signs_[name] = read(trace_->text(name));
    return signs_[name];
  }
  static std::uint8_t read(std::string_view kernel);

  const trace::Trace* trace_;
  std::vector<std::uint8_t> signs_;
};

// "768, 2 of 1024×256": the tensors of a call, those of no dimension left out.
std::string shape_text(const OpInputs& inputs);
// What work without an operator lacks.
constexpr Missing missing_of(NoOperator why) {
  return why == NoOperator::kNotRecorded ? Missing::kLaunch : Missing::kOperator;
}

// Where no call's FLOPs are known: why, as a remark.
std::string why_no_flops(const RunView& view);

OpInputs inputs_of(const trace::Trace& trace, trace::Row row);

// Which operator calls do again, in the backward pass, what the forward pass had done: activation
// checkpointing, by whichever of its ways. Definition: docs/metrics/mfu.md.

class RecomputedCalls {
 public:
  RecomputedCalls(const trace::Trace& trace, const OpCalls& ops);
  // Of OpCalls::calls.
  bool operator[](std::uint32_t call) const;
  // The node of the backward pass that a call is in, as the engine announces it, or kNone.
  std::uint32_t node_of(std::uint32_t call) const { return places_[call].node; }

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
