#include "analysis/costs/call_costs.h"

#include <algorithm>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/costs/recomputed.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

trace::SignatureId signature_of(const trace::Trace& trace, Row row) {
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
constexpr std::uint32_t kProducts = [] {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(Family::kCount); ++i) {
    if (multiplies_matrices(static_cast<Family>(i))) bits |= 1U << i;
  }
  return bits;
}();

class Counting {
 public:
  explicit Counting(const WindowView& window)
      : window_(window), trace_(*window.trace), times_(op_times(window)) {}

  CallCosts count() {
    find_owners();
    recomputed_ = recomputed_calls(trace_, times_);
    own_work();
    leave_out_what_parts_count();
    add_costs();
    return std::move(out_);
  }

 private:
  bool formula_tells(std::uint32_t call) {
    if (formula_[call] == nullptr) return false;
    const Row row = times_.calls[call].row;
    const std::uint32_t inputs = inputs_.number(trace_.name()[row], signature_of(trace_, row));
    if (inputs == tells_.size()) tells_.push_back(formula_cost(call).flops.known());
    return tells_[inputs];
  }

  // Of every call, in one pass because there are many: its formula, the profiler's count where the
  // formula does not tell, and the innermost call from it outwards that has either. A product whose
  // formula does not tell is left to the call around it that has a count.
  void find_owners() {
    const trace::FlopsTable& recorded = trace_.flops();
    std::vector<const Formula*> by_name(trace_.strings().size());
    std::vector<bool> asked(by_name.size());
    formula_.resize(times_.calls.size());
    counts_.resize(times_.calls.size());
    owner_.resize(times_.calls.size());
    for (std::uint32_t i = 0; i < times_.calls.size(); ++i) {
      const OpCall& call = times_.calls[i];
      const base::StringId name = trace_.name()[call.row];
      if (name < by_name.size() && !asked[name]) {
        asked[name] = true;
        by_name[name] = find_formula(trace_.text(name));
      }
      formula_[i] = name < by_name.size() ? by_name[name] : nullptr;
      const std::uint32_t entry = recorded.rows.find(call.row);
      if (entry != base::RowSet::kNone && !formula_tells(i)) counts_[i] = recorded.flops[entry];
      owner_[i] = owner_of(i);
    }
  }

  std::uint32_t owner_of(std::uint32_t i) {
    const std::uint32_t parent = times_.calls[i].parent;
    if (parent >= i || counts_[i] > 0) return i;
    const std::uint32_t around = owner_[parent];
    const bool left_to_count = counts_[around] > 0 && formula_[i] != nullptr &&
                               multiplies_matrices(formula_[i]->family) && !formula_tells(i);
    const bool around_costs = formula_[around] != nullptr || counts_[around] > 0;
    return left_to_count || (formula_[i] == nullptr && around_costs) ? around : i;
  }

  void own_work() {
    out_.of_work.assign(window_.work.size(), CallCosts::kNone);
    KernelNames names(trace_);
    std::vector<std::uint32_t> entry(times_.calls.size(), CallCosts::kNone);
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.work_class != WorkClass::kCompute || times_.call_of_work[i] == OpCall::kNone) {
        continue;
      }
      const std::uint32_t owner = owner_[times_.call_of_work[i]];
      if (entry[owner] == CallCosts::kNone) {
        entry[owner] = static_cast<std::uint32_t>(out_.calls.size());
        CostedCall call;
        call.call = owner;
        call.step = piece.step;
        call.counted = window_.counts(piece);
        call.recomputed = recomputed_[owner];
        if (formula_[owner] != nullptr) call.family = formula_[owner]->family;
        out_.calls.push_back(call);
      }
      out_.of_work[i] = entry[owner];
      CostedCall& call = out_.calls[entry[owner]];
      call.compute_ns += piece.length();
      if (!names.helps(piece.row)) ++call.kernels;
      if (names.has_tensor_float(piece.row)) call.tensor_float = true;
    }
  }

  // A call and one inside it, both with kernels and of one family: the inner one is the exact one.
  void leave_out_what_parts_count() {
    std::vector<std::uint32_t> below(times_.calls.size());
    std::vector<std::uint32_t> own(times_.calls.size());
    for (const CostedCall& call : out_.calls) {
      if (call.family != Family::kCount) {
        own[call.call] = 1U << static_cast<unsigned>(call.family);
      } else if (counts_[call.call] > 0) {
        own[call.call] = kProducts;  // whichever it is that the profiler counted
      }
    }
    for (std::size_t i = times_.calls.size(); i-- > 0;) {
      const std::uint32_t parent = times_.calls[i].parent;
      if (parent < i) below[parent] |= below[i] | own[i];
    }
    has_parts_.resize(times_.calls.size());
    for (std::size_t i = 0; i < own.size(); ++i) has_parts_[i] = (below[i] & own[i]) != 0;
  }

  void add_costs() {
    // Calls of one name with the same inputs cost the same, unless parts or a count differ.
    PairNumbers inputs;
    PairNumbers differences;
    NumberMap counts;
    for (CostedCall& costed : out_.calls) {
      const std::uint32_t call = costed.call;
      const Row row = times_.calls[call].row;
      const auto fresh = static_cast<std::uint32_t>(counts.size());
      const std::uint32_t count =
          counts.try_emplace(static_cast<std::uint64_t>(counts_[call]), fresh).number;
      const std::uint32_t named = inputs.number(trace_.name()[row], signature_of(trace_, row));
      const std::uint32_t cost = differences.number(named, 2 * count + (has_parts_[call] ? 1 : 0));
      if (cost == out_.costs.size()) out_.costs.push_back(cost_of_call(call));
      costed.cost = cost;
      costed.dtype = out_.costs[cost].dtype;
    }
  }

  Cost formula_cost(std::uint32_t call) const {
    if (formula_[call] == nullptr) return unknown(Missing::kFormula);
    const Row row = times_.calls[call].row;
    return analysis::cost_of(*formula_[call], trace_.name_text(row), inputs_of(trace_, row));
  }

  Cost cost_of_call(std::uint32_t call) const {
    if (has_parts_[call]) return unknown(Missing::kParts);
    Cost cost = formula_cost(call);
    if (counts_[call] > 0) {
      cost.flops = counts_[call];
      cost.by_profiler = true;
      if (cost.dtype == Dtype::kUnknown) {
        cost.dtype = only_float_type(inputs_of(trace_, times_.calls[call].row));
      }
    }
    return cost;
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  const OpTimes& times_;
  std::vector<const Formula*> formula_;
  std::vector<std::int64_t> counts_;  // 0: none, or not needed
  PairNumbers inputs_;                // names with signatures
  std::vector<bool> tells_;           // by inputs_
  std::vector<std::uint32_t> owner_;
  std::vector<bool> recomputed_, has_parts_;
  CallCosts out_;
};

}  // namespace

const CallCosts& call_costs(const WindowView& window) {
  return window.call_costs->get([&] { return Counting(window).count(); });
}

OpInputs inputs_of(const trace::Trace& trace, Row row) {
  const trace::SignatureId id = signature_of(trace, row);
  if (id == trace::kNoSignature) return {};
  const trace::Signature& signature = trace.signatures()[id];
  return read_inputs(trace.text(signature.dims), trace.text(signature.types),
                     trace.text(signature.strides), trace.text(signature.concrete));
}

}  // namespace stepscope::analysis
