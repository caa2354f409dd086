// Operators over lists of tensors: the optimizer's. Traces hold the shapes of short lists only, and
// never the types, so bytes are not known.
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

// The first input is the list that counts.
Cost over_list(const Call& call) {
  if (call.size() == 0 || call.in.inputs[0].kind != InputKind::kTensorList) {
    return unknown(Missing::kInputs);
  }
  if (call.in.inputs[0].list.empty()) return unknown(Missing::kLists);
  Cost cost = unknown(Missing::kLists);
  cost.flops = 0;
  for (const Tensor& tensor : call.in.inputs[0].list) {
    cost.flops += elements(tensor) * call.formula.factor;
  }
  return cost;
}

using enum Family;
constexpr std::array kListsFormulas = std::to_array<Formula>({
    {"_foreach_add", kElementwise, over_list, 1},
    {"_foreach_sub", kElementwise, over_list, 1},
    {"_foreach_mul", kElementwise, over_list, 1},
    {"_foreach_div", kElementwise, over_list, 1},
    {"_foreach_sqrt", kElementwise, over_list, 1},
    {"_foreach_neg", kElementwise, over_list, 1},
    {"_foreach_abs", kElementwise, over_list, 1},
    {"_foreach_exp", kElementwise, over_list, 1},
    {"_foreach_pow", kElementwise, over_list, 1},
    {"_foreach_reciprocal", kElementwise, over_list, 1},
    {"_foreach_maximum", kElementwise, over_list, 1},
    {"_foreach_minimum", kElementwise, over_list, 1},
    {"_foreach_clamp_min", kElementwise, over_list, 1},
    {"_foreach_clamp_max", kElementwise, over_list, 1},
    {"_foreach_lerp", kElementwise, over_list, 3},
    {"_foreach_addcmul", kElementwise, over_list, 3},
    {"_foreach_addcdiv", kElementwise, over_list, 3},
    {"_foreach_rsqrt", kElementwise, over_list, 2},
    {"_foreach_log", kElementwise, over_list, 1},
    {"_foreach_tanh", kElementwise, over_list, 1},
    {"_foreach_sigmoid", kElementwise, over_list, 4},
    {"_foreach_sign", kElementwise, over_list, 1},
    {"_amp_foreach_non_finite_check_and_unscale", kElementwise, over_list, 2},
    {"_foreach_max", kReduction, over_list, 1},
    {"_foreach_norm", kReduction, over_list, 2},
    {"_foreach_copy", kCopy, over_list, 0},
    {"_foreach_zero", kFill, over_list, 0},
    {"cat", kCopy, over_list, 0},
    {"stack", kCopy, over_list, 0},
    {"_fused_adam", kOptimizer, over_list, 14},
    {"_fused_adamw", kOptimizer, over_list, 14},
    {"_fused_sgd", kOptimizer, over_list, 5},
    {"_fused_adagrad", kOptimizer, over_list, 7},
});

}  // namespace

std::span<const Formula> list_formulas() { return kListsFormulas; }

}  // namespace stepscope::analysis
