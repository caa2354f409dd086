// Finds which operator call owns the cost of each compute kernel, and adds the costs up.
#include "analysis/costs/call_costs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/name_sign.h"
#include "analysis/prepared.h"
#include "base/column.h"
#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

trace::SignatureId call_costs_signature_of(const trace::Trace& trace, Row row) {
  const std::uint32_t entry = trace.ops().rows.find(row);
  return entry == base::RowSet::kNone ? trace::kNoSignature : trace.ops().signature[entry];
}

// Of the tensors that hold fractions; unknown where they differ.
Dtype only_float_type(const OpInputs& inputs) {
  Dtype found = Dtype::kUnknown;
  for (const Input& input : inputs.inputs) {
    if (input.kind != InputKind::kTensor || !is_float(input.tensor.dtype)) continue;
    if (found != Dtype::kUnknown && found != input.tensor.dtype) return Dtype::kUnknown;
    found = input.tensor.dtype;
  }
  return found;
}

// Bits of the families that multiply matrices.
constexpr std::uint32_t kCallCostsProducts = [] {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(Family::kCount); ++i) {
    if (multiplies_matrices(static_cast<Family>(i))) bits |= 1U << i;
  }
  return bits;
}();

class CallCostsCounting {
 public:
  explicit CallCostsCounting(const WindowView& window)
      : window_(window),
        trace_(*window.trace),
        ops_(op_calls(window)),
        recomputed_(trace_, ops_),
        formulas_(trace_.strings().size()) {}

  CallCosts count() {
    own_work();
    leave_out_what_parts_count();
    add_costs();
    add_recomputed();
    return std::move(out_);
  }

 private:
  Row row_of(std::uint32_t call) const { return ops_.calls[call].row; }

  // Of an operator's name, looked up once; nullptr: there is none.
  const Formula* formula(std::uint32_t call) {
    const base::StringId name = trace_.name()[row_of(call)];
    if (name >= formulas_.size()) return nullptr;
    NameFormula& known = formulas_[name];
    if (!known.asked) known = {find_formula(trace_.text(name)), true};
    return known.formula;
  }

  bool formula_tells(std::uint32_t call) {
    if (formula(call) == nullptr) return false;
    const Row row = row_of(call);
    const std::uint32_t inputs =
        inputs_.number(trace_.name()[row], call_costs_signature_of(trace_, row));
    if (inputs == tells_.size()) tells_.push_back(formula_cost(call).flops.known());
    return tells_[inputs];
  }

  // The profiler's count where the formula does not tell; 0: none, or not needed.
  std::int64_t count_of(std::uint32_t call) {
    const std::uint32_t entry = trace_.flops().rows.find(row_of(call));
    return entry == base::RowSet::kNone || formula_tells(call) ? 0 : trace_.flops().flops[entry];
  }

  // The innermost call from this one outwards that has a formula or a count. A product whose
  // formula does not tell is left to the call around it that has a count.
  std::uint32_t owner_of(std::uint32_t call) {
    chain_.clear();
    for (; call != OpCall::kNone; call = ops_.calls[call].parent) chain_.push_back(call);
    std::uint32_t owner = chain_.back();
    for (std::size_t i = chain_.size() - 1; i-- > 0;) {
      if (!is_left_to(owner, chain_[i])) owner = chain_[i];
    }
    return owner;
  }
  bool is_left_to(std::uint32_t around, std::uint32_t call) {
    if (count_of(call) > 0) return false;
    const Formula* const own = formula(call);
    if (own == nullptr) return formula(around) != nullptr || count_of(around) > 0;
    return multiplies_matrices(own->family) && count_of(around) > 0 && !formula_tells(call);
  }

  void own_work() {
    out_.of_work.assign(window_.work.size(), CallCosts::kNone);
    entry_ = base::Column<std::uint32_t>(ops_.calls.size());
    KernelNames names(trace_);
    std::uint32_t last = OpCall::kNone;  // kernels of one call follow each other
    std::uint32_t owner = OpCall::kNone;
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      const std::uint32_t launched_by = ops_.of_work[i];
      if (piece.work_class != WorkClass::kCompute || launched_by == OpCall::kNone) continue;
      if (launched_by != last) owner = owner_of(last = launched_by);
      if (entry_[owner] == 0) add_call(owner, piece);
      out_.of_work[i] = entry_[owner] - 1;
      CostedCall& call = out_.calls[entry_[owner] - 1];
      call.compute_ns += piece.length();
      if (!names.helps(piece.row)) ++call.kernels;
      if (names.has_tensor_float(piece.row)) call.tensor_float = true;
    }
  }

  void add_call(std::uint32_t owner, const Work& first) {
    CostedCall call;
    call.call = owner;
    call.step = first.step;
    call.counted = window_.counts(first);
    call.recomputed = recomputed_[owner];
    if (const Formula* const own = formula(owner)) call.family = own->family;
    out_.calls.push_back(call);
    entry_[owner] = static_cast<std::uint32_t>(out_.calls.size());
  }

  // Bits of what a call with kernels computes.
  std::uint32_t families(const CostedCall& call) {
    // Attention and convolutions may be made of products, and a profiler counts whichever it is.
    if (call.family == Family::kCount) return count_of(call.call) > 0 ? kCallCostsProducts : 0;
    return multiplies_matrices(call.family) ? kCallCostsProducts
                                            : 1U << static_cast<unsigned>(call.family);
  }

  // A call and one inside it, both with kernels and of one family, or both products: the inner one
  // is the exact one.
  void leave_out_what_parts_count() {
    std::vector<std::uint32_t> own;
    own.reserve(out_.calls.size());
    for (const CostedCall& call : out_.calls) own.push_back(families(call));
    has_parts_.resize(out_.calls.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::uint32_t around = ops_.calls[out_.calls[i].call].parent;
      for (; around != OpCall::kNone; around = ops_.calls[around].parent) {
        const std::uint32_t entry = entry_[around];
        if (entry != 0 && (own[entry - 1] & own[i]) != 0) has_parts_[entry - 1] = true;
      }
    }
  }

  void add_costs() {
    // Calls of one name with the same inputs cost the same, unless parts or a count differ.
    PairNumbers inputs;
    PairNumbers differences;
    base::NumberMap counts;
    for (std::size_t i = 0; i < out_.calls.size(); ++i) {
      CostedCall& costed = out_.calls[i];
      const Row row = row_of(costed.call);
      const std::int64_t profiled = count_of(costed.call);
      const auto fresh = static_cast<std::uint32_t>(counts.size() + 1);
      const std::uint32_t count =
          profiled == 0 ? 0
                        : counts.try_emplace(static_cast<std::uint64_t>(profiled), fresh).number;
      const std::uint32_t named =
          inputs.number(trace_.name()[row], call_costs_signature_of(trace_, row));
      const std::uint32_t cost = differences.number(named, 2 * count + (has_parts_[i] ? 1 : 0));
      if (cost == out_.costs.size()) {
        out_.costs.push_back(has_parts_[i] ? unknown(Missing::kParts)
                                           : cost_of_call(costed.call, profiled));
      }
      costed.cost = cost;
      costed.dtype = out_.costs[cost].dtype;
    }
  }

  void add_recomputed() {
    std::uint32_t node = OpCall::kNone;
    for (std::uint32_t call = 0; call < ops_.calls.size(); ++call) {
      const std::uint32_t parent = ops_.calls[call].parent;
      if (!recomputed_[call] || (parent != OpCall::kNone && recomputed_[parent])) continue;
      const Row row = row_of(call);
      const bool goes_on =
          !out_.recomputed.empty() && node != OpCall::kNone && recomputed_.node_of(call) == node;
      if (goes_on) {
        base::Nanos& end = out_.recomputed.back().end;
        end = std::max(end, trace_.end(row));
      } else {
        out_.recomputed.push_back({trace_.start()[row], trace_.end(row)});
      }
      node = recomputed_.node_of(call);
    }
  }

  Cost formula_cost(std::uint32_t call) {
    const Formula* const own = formula(call);
    if (own == nullptr) return unknown(Missing::kFormula);
    const Row row = row_of(call);
    return analysis::cost_of(*own, trace_.name_text(row), inputs_of(trace_, row));
  }

  Cost cost_of_call(std::uint32_t call, std::int64_t profiled) {
    Cost cost = formula_cost(call);
    if (profiled > 0) {
      cost.flops = profiled;
      cost.by_profiler = true;
      if (cost.dtype == Dtype::kUnknown) {
        cost.dtype = only_float_type(inputs_of(trace_, row_of(call)));
      }
    }
    return cost;
  }

  struct NameFormula {
    const Formula* formula = nullptr;
    bool asked = false;
  };

  const WindowView& window_;
  const trace::Trace& trace_;
  const OpCalls& ops_;
  RecomputedCalls recomputed_;
  std::vector<NameFormula> formulas_;  // by name
  PairNumbers inputs_;                 // names with signatures
  std::vector<bool> tells_;            // by inputs_
  std::vector<std::uint32_t> chain_;
  base::Column<std::uint32_t> entry_;  // by call: 1 + its place in CallCosts::calls; 0: none
  std::vector<bool> has_parts_;        // by CallCosts::calls
  CallCosts out_;
};

}  // namespace

const CallCosts& call_costs(const WindowView& window) {
  return window.prepared->call_costs.get([&] { return CallCostsCounting(window).count(); });
}

std::string why_no_flops(const RunView& view) {
  bool operators = false, shapes = false;
  for (const WindowView& window : view.windows) {
    operators = operators || !op_calls(window).calls.empty();
    shapes = shapes || !window.trace->signatures().empty();
  }
  if (!operators) {
    return "No FLOPs are known: the trace has no operators. Record it with the CPU activity and "
           "record_shapes=True.";
  }
  if (!shapes) {
    return "No FLOPs are known: profile with record_shapes=True to have the inputs of operators.";
  }
  return "No FLOPs are known: no operator that launched kernels has a formula whose inputs were "
         "recorded.";
}

OpInputs inputs_of(const trace::Trace& trace, Row row) {
  const trace::SignatureId id = call_costs_signature_of(trace, row);
  if (id == trace::kNoSignature) return {};
  const trace::Signature& signature = trace.signatures()[id];
  return read_inputs(trace.text(signature.dims), trace.text(signature.types),
                     trace.text(signature.strides), trace.text(signature.concrete));
}

namespace {

using trace::Row;

// Rows inside the hook with which checkpointing (use_reentrant=False) runs a forward pass again;
// it is a Python frame, so only traces with stacks show it.
std::vector<bool> inside_hooks(const trace::Trace& trace) {
  std::vector<bool> hooks(trace.strings().size());
  bool any = false;
  for (std::size_t id = 0; id < hooks.size(); ++id) {
    const std::string_view name = trace.text(static_cast<base::StringId>(id));
    hooks[id] = name.starts_with("torch/utils/checkpoint.py") && name.ends_with(": unpack_hook");
    any = any || hooks[id];
  }
  if (!any) return {};
  std::vector<bool> inside(trace.size());
  for (Row row = 0; row < trace.size(); ++row) {
    const base::StringId name = trace.name()[row];
    const Row parent = trace.parent()[row];
    inside[row] = (name < hooks.size() && hooks[name]) || (parent < row && inside[parent]);
  }
  return inside;
}

// Operators that autograd never records, whatever the mode: they say nothing about it.
bool is_never_recorded(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kBeginnings = {"aten::empty", "aten::detach",
                                                                  "aten::zeros", "aten::ones"};
  for (const std::string_view beginning : kBeginnings) {
    if (name.starts_with(beginning)) return true;
  }
  return !name.starts_with("aten::");
}

bool names_announcement(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function");
}

}  // namespace

class RecomputedCalls::Finding {
 public:
  Finding(const trace::Trace& trace, const OpCalls& ops, std::vector<Place>& places)
      : trace_(trace),
        ops_(ops),
        places_(places),
        announces_(trace, names_announcement),
        checkpoints_(trace, [](auto name) { return name == "CheckpointFunctionBackward"; }),
        never_recorded_(trace, is_never_recorded) {}

  void find() {
    places_.resize(ops_.calls.size());
    for (std::uint32_t i = 0; i < places_.size(); ++i) place(i);
  }

 private:
  static constexpr std::uint32_t kNone = OpCall::kNone;

  void place(std::uint32_t i) {
    const OpCall& call = ops_.calls[i];
    const bool is_below = call.parent < i;
    Place& mine = places_[i];
    if (announces_.matches_row(call.row)) {
      // A node inside a node: the outer one runs a backward pass of its own, so what it has
      // recorded before is a forward pass.
      if (is_below && places_[call.parent].node != kNone) {
        places_[places_[call.parent].node].has_own = true;
      }
      mine.node = i;
      return;
    }
    if (is_below) mine = places_[call.parent];
    mine.has_own = false;
    if (checkpoints_.matches_row(call.row)) mine.checkpointed = true;
    if (mine.node == kNone || mine.recorded) return;
    if (is_node(call)) return;
    if (is_recorded(call.row)) {
      mine.recorded = true;
    } else if (!never_recorded_.matches_row(call.row)) {
      places_[mine.node].has_own = true;
    }
  }

  // The engine announces "…evaluate_function: MmBackward0" and calls "MmBackward0".
  bool is_node(const OpCall& call) const {
    return places_[call.parent].node == call.parent &&
           trace_.name_text(ops_.calls[call.parent].row).ends_with(trace_.name_text(call.row));
  }

  // Numbers are given to calls that autograd records; a node has that of its forward call.
  bool is_recorded(Row row) const {
    const trace::OpTable& ops = trace_.ops();
    const std::uint32_t entry = ops.rows.find(row);
    return entry != base::RowSet::kNone && ops.sequence[entry] >= 0 &&
           ops.forward_thread[entry] <= 0;
  }

  const trace::Trace& trace_;
  const OpCalls& ops_;
  std::vector<Place>& places_;
  NameSign announces_, checkpoints_, never_recorded_;
};

RecomputedCalls::RecomputedCalls(const trace::Trace& trace, const OpCalls& ops)
    : ops_(&ops), hooked_(inside_hooks(trace)) {
  Finding(trace, ops, places_).find();
}

bool RecomputedCalls::operator[](std::uint32_t call) const {
  const Place& at = places_[call];
  // With create_graph=True a node's own formula is recorded too: nothing is done twice then.
  const bool again = at.recorded && places_[at.node].has_own;
  return at.checkpointed || again || (!hooked_.empty() && hooked_[ops_->calls[call].row]);
}

}  // namespace stepscope::analysis
