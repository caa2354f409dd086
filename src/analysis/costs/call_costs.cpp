#include "analysis/costs/call_costs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace stepscope::analysis {
namespace {

using trace::Row;

trace::SignatureId signature_of(const trace::Trace& trace, Row row) {
  const std::uint32_t entry = trace.ops().rows.find(row);
  return entry == base::RowSet::kNone ? trace::kNoSignature : trace.ops().signature[entry];
}

class Counting {
 public:
  explicit Counting(const WindowView& window)
      : window_(window), trace_(*window.trace), times_(op_times(window)) {}

  CallCosts count() {
    find_formulas();
    find_recomputation();
    own_work();
    leave_out_what_parts_count();
    add_costs();
    return std::move(out_);
  }

 private:
  // Of every call: its formula, and the innermost call from it outwards that has one.
  void find_formulas() {
    std::vector<const Formula*> by_name(trace_.strings().size());
    std::vector<bool> asked(by_name.size());
    formula_.resize(times_.calls.size());
    owner_.resize(times_.calls.size());
    for (std::uint32_t i = 0; i < times_.calls.size(); ++i) {
      const OpCall& call = times_.calls[i];
      const base::StringId name = trace_.name()[call.row];
      if (name < by_name.size() && !asked[name]) {
        asked[name] = true;
        by_name[name] = find_formula(trace_.text(name));
      }
      formula_[i] = name < by_name.size() ? by_name[name] : nullptr;
      owner_[i] = i;
      if (formula_[i] == nullptr && call.parent < i && formula_[owner_[call.parent]] != nullptr) {
        owner_[i] = owner_[call.parent];
      }
    }
  }

  // Rows inside the hook with which checkpointing (use_reentrant=False) runs a forward pass again;
  // it is a Python frame, so only traces with stacks show it.
  std::vector<bool> inside_hooks() const {
    std::vector<bool> hooks(trace_.strings().size());
    bool any = false;
    for (std::size_t id = 0; id < hooks.size(); ++id) {
      const std::string_view name = trace_.text(static_cast<base::StringId>(id));
      hooks[id] = name.starts_with("torch/utils/checkpoint.py") && name.ends_with(": unpack_hook");
      any = any || hooks[id];
    }
    if (!any) return {};
    std::vector<bool> inside(trace_.size());
    for (Row row = 0; row < trace_.size(); ++row) {
      const base::StringId name = trace_.name()[row];
      const Row parent = trace_.parent()[row];
      inside[row] = (name < hooks.size() && hooks[name]) || (parent < row && inside[parent]);
    }
    return inside;
  }

  // Reentrant checkpointing runs the forward pass again inside its own backward node, and then the
  // nodes of that pass, each of which the engine announces.
  void find_recomputation() {
    recomputed_.resize(times_.calls.size());
    const std::vector<bool> inside = inside_hooks();
    for (std::uint32_t i = 0; i < times_.calls.size(); ++i) {
      const OpCall& call = times_.calls[i];
      const std::string_view name = trace_.name_text(call.row);
      if (name == "CheckpointFunctionBackward") {
        recomputed_[i] = true;
      } else if (name.starts_with("autograd::engine::evaluate_function")) {
        recomputed_[i] = false;
      } else if (call.parent < i) {
        recomputed_[i] = recomputed_[call.parent];
      }
      if (!inside.empty() && inside[call.row]) recomputed_[i] = true;
    }
  }

  void own_work() {
    out_.of_work.assign(window_.work.size(), CallCosts::kNone);
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
      const std::string_view kernel = trace_.name_text(piece.row);
      if (!names_helper_kernel(kernel)) ++call.kernels;
      if (names_tensor_float_kernel(kernel)) call.tensor_float = true;
    }
  }

  // A call and one inside it, both with kernels and of one family: the inner one is the exact one.
  void leave_out_what_parts_count() {
    std::vector<std::uint32_t> below(times_.calls.size());
    std::vector<std::uint32_t> own(times_.calls.size());
    for (const CostedCall& call : out_.calls) {
      if (call.family != Family::kCount) own[call.call] = 1U << static_cast<unsigned>(call.family);
    }
    for (std::size_t i = times_.calls.size(); i-- > 0;) {
      const std::uint32_t parent = times_.calls[i].parent;
      if (parent < i) below[parent] |= below[i] | own[i];
    }
    has_parts_.resize(times_.calls.size());
    for (std::size_t i = 0; i < own.size(); ++i) has_parts_[i] = (below[i] & own[i]) != 0;
  }

  void add_costs() {
    using Key = std::tuple<base::StringId, trace::SignatureId, bool>;
    std::vector<std::pair<Key, std::uint32_t>> keys;
    keys.reserve(out_.calls.size());
    for (std::uint32_t i = 0; i < out_.calls.size(); ++i) {
      const std::uint32_t call = out_.calls[i].call;
      const Row row = times_.calls[call].row;
      keys.emplace_back(Key{trace_.name()[row], signature_of(trace_, row), has_parts_[call]}, i);
    }
    std::ranges::sort(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      CostedCall& call = out_.calls[keys[i].second];
      if (i == 0 || keys[i].first != keys[i - 1].first) {
        out_.costs.push_back(cost_of_call(call.call));
      }
      call.cost = static_cast<std::uint32_t>(out_.costs.size() - 1);
      call.dtype = out_.costs.back().dtype;
    }
  }

  Cost cost_of_call(std::uint32_t call) const {
    if (has_parts_[call]) return unknown(Missing::kParts);
    if (formula_[call] == nullptr) return unknown(Missing::kFormula);
    const Row row = times_.calls[call].row;
    return analysis::cost_of(*formula_[call], trace_.name_text(row), inputs_of(trace_, row));
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  const OpTimes& times_;
  std::vector<const Formula*> formula_;
  std::vector<std::uint32_t> owner_;
  std::vector<bool> recomputed_, has_parts_;
  CallCosts out_;
};

}  // namespace

const CallCosts& call_costs(const WindowView& window) {
  return window.call_costs->get([&] { return Counting(window).count(); });
}

bool names_helper_kernel(std::string_view kernel) {
  return kernel.find("splitKreduce") != std::string_view::npos ||
         kernel.find("splitk_reduce") != std::string_view::npos;
}

bool names_tensor_float_kernel(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos ||
         kernel.find("tensorop_s1688") != std::string_view::npos;
}

std::optional<Arithmetic> arithmetic_of(const CostedCall& call) {
  const bool matrix = multiplies_matrices(call.family);
  switch (call.dtype) {
    case Dtype::kDouble:
    case Dtype::kComplexDouble:
      return Arithmetic::kFp64;
    case Dtype::kFloat:
    case Dtype::kComplexFloat:
      return matrix && call.tensor_float ? Arithmetic::kTf32 : Arithmetic::kFp32;
    // What is not a product of matrices is computed in 32 bits, whatever the tensors hold.
    case Dtype::kHalf:
      return matrix ? Arithmetic::kFp16 : Arithmetic::kFp32;
    case Dtype::kBfloat16:
      return matrix ? Arithmetic::kBf16 : Arithmetic::kFp32;
    case Dtype::kFp8:
      return matrix ? Arithmetic::kFp8 : Arithmetic::kFp32;
    case Dtype::kFp4Pair:
      return matrix ? std::optional(Arithmetic::kFp4) : std::nullopt;
    case Dtype::kInt8:
      return matrix ? std::optional(Arithmetic::kInt8) : std::nullopt;
    default:
      return std::nullopt;
  }
}

double peak_of(const Peaks& peaks, const CostedCall& call) {
  const auto arithmetic = arithmetic_of(call);
  if (!arithmetic) return 0;
  return multiplies_matrices(call.family) ? peaks.matrix_flops(*arithmetic) : peaks[*arithmetic];
}

std::string shape_text(const OpInputs& inputs) {
  std::vector<std::pair<std::string, int>> parts;  // neighbours of one shape are one part
  for (const Input& input : inputs.inputs) {
    std::string part;
    if (input.kind == InputKind::kTensor && input.tensor.rank() > 0) {
      part = fmt::format("{}", fmt::join(input.tensor.dims, "×"));
    } else if (input.kind == InputKind::kTensorList) {
      part = input.list.empty() ? "list" : fmt::format("list of {}", input.list.size());
    }
    if (part.empty()) continue;
    if (!parts.empty() && parts.back().first == part) {
      ++parts.back().second;
    } else {
      parts.emplace_back(std::move(part), 1);
    }
  }
  std::string text;
  for (const auto& [part, times] : parts) {
    if (!text.empty()) text += ", ";
    text += times == 1 ? part : fmt::format("{} of {}", times, part);
  }
  return text;
}

OpInputs inputs_of(const trace::Trace& trace, Row row) {
  const trace::SignatureId id = signature_of(trace, row);
  if (id == trace::kNoSignature) return {};
  const trace::Signature& signature = trace.signatures()[id];
  return read_inputs(trace.text(signature.dims), trace.text(signature.types),
                     trace.text(signature.strides), trace.text(signature.concrete));
}

FoundPeaks peaks_of(const RunView& view, const WindowView& window, std::int32_t device) {
  for (const trace::DeviceProperties& properties : window.trace->header().devices) {
    if (properties.id == device) return find_peaks(properties, view.own_peaks);
  }
  return {std::nullopt, "is not described in the trace"};
}

}  // namespace stepscope::analysis
