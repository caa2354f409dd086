// Element by element, with broadcasting: as many FLOPs an element of the result as the function
// has operations, where exp, log, tanh, sqrt and their like are one.
#include <algorithm>
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;

int category(Dtype dtype) {
  if (dtype == Dtype::kBool) return 0;
  if (dtype <= Dtype::kInt64) return 1;
  return is_complex(dtype) ? 3 : 2;
}

Dtype larger(Dtype a, Dtype b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  const bool halves =
      (a == Dtype::kHalf && b == Dtype::kBfloat16) || (b == Dtype::kHalf && a == Dtype::kBfloat16);
  if (halves) return Dtype::kFloat;
  const bool bytes_of_each_sign =
      (a == Dtype::kInt8 && b == Dtype::kUint8) || (b == Dtype::kInt8 && a == Dtype::kUint8);
  if (bytes_of_each_sign) return Dtype::kInt16;
  return std::max(a, b);
}

// torch's promotion: a tensor without dimensions only lifts the category.
struct Result {
  Dtype type = Dtype::kUnknown, single = Dtype::kUnknown;
  Dims dims;
  bool fits = true;

  void add(const Tensor& tensor) {
    Dtype& slot = tensor.rank() > 0 ? type : single;
    slot = slot == Dtype::kUnknown ? tensor.dtype : larger(slot, tensor.dtype);
    if (tensor.rank() > dims.size()) dims.insert(dims.begin(), tensor.rank() - dims.size(), 1);
    for (std::size_t i = 0; i < tensor.rank(); ++i) {
      std::int64_t& mine = dims[dims.size() - 1 - i];
      const std::int64_t other = tensor.dims[tensor.rank() - 1 - i];
      if (mine != other && mine != 1 && other != 1) fits = false;
      if (mine == 1) mine = other;
    }
  }
  Dtype promoted() const {
    if (type == Dtype::kUnknown) return single;
    if (single == Dtype::kUnknown || category(type) >= category(single)) return type;
    return single;
  }
};

// writes: what the result is of. b truths, f a float whatever came in, 0 the first input's type.
Cost elementwise(const Call& call) {
  const Formula& row = call.formula;
  Result result;
  Cost cost;
  cost.bytes = 0;
  bool any_scalar = false;
  for (std::size_t i = 0; i < row.reads.size(); ++i) {
    const std::size_t place = static_cast<std::size_t>(row.reads[i] - '0');
    if (const Tensor* tensor = call.tensor(place)) {
      if (tensor->dtype == Dtype::kUnknown) cost.missing = Missing::kTypes;
      // The condition of a choice has no say in the type of the result.
      if (!(row.name == "where" && i == 0) && !(row.name == "masked_fill" && i == 1)) {
        result.add(*tensor);
      } else {
        Tensor shape{tensor->dims, {}, Dtype::kUnknown};
        Result only = result;
        result.add(shape);
        result.type = only.type;
        result.single = only.single;
      }
      cost.bytes += bytes(*tensor);
    } else if (place < call.size() && call.in.inputs[place].kind == InputKind::kScalar) {
      any_scalar = true;
    } else if (i == 0 || place < call.size()) {
      return unknown(Missing::kInputs);
    }
  }
  if (!result.fits || (row.reads.size() > 1 && call.size() > 8)) return unknown(Missing::kInputs);
  Dtype out = result.promoted();
  cost.dtype = out;
  const bool whole = category(out) < 2;
  if (row.writes == "b") {
    out = Dtype::kBool;
  } else if (row.writes == "f" && whole) {
    out = Dtype::kFloat;  // torch's default type; another one is rare and not recorded
  } else if (row.writes.empty() && whole && any_scalar) {
    // A whole tensor and a scalar: whether the result is whole depends on the scalar.
    const bool recorded = std::ranges::any_of(call.in.inputs, [](const Input& input) {
      return input.kind == InputKind::kScalar && !input.value.empty();
    });
    const bool real = std::ranges::any_of(call.in.inputs, [](const Input& input) {
      return input.kind == InputKind::kScalar &&
             input.value.find_first_of(".e") != std::string::npos && !truth(input.value);
    });
    out = !recorded ? Dtype::kUnknown : real ? Dtype::kFloat : out;
    if (!recorded) cost.missing = Missing::kValues;
  }
  if (call.in_place) {
    const Tensor* self = call.tensor(0);
    if (self == nullptr || self->dims != result.dims) return unknown(Missing::kInputs);
    out = self->dtype;
  }
  const Amount count = product(result.dims);
  cost.flops = count * row.factor;
  cost.bytes += bytes(count, out);
  return cost;
}

struct Function {
  std::string_view name;
  std::int64_t flops;
  std::string_view reads = "0";
  std::string_view writes = {};
};

constexpr std::array kFunctions = std::to_array<Function>({
    {"abs", 1},
    {"neg", 1},
    {"relu", 1},
    {"sqrt", 1, "0", "f"},
    {"rsqrt", 2, "0", "f"},
    {"reciprocal", 1, "0", "f"},
    {"square", 1},
    {"exp", 1, "0", "f"},
    {"exp2", 1, "0", "f"},
    {"expm1", 1, "0", "f"},
    {"log", 1, "0", "f"},
    {"log2", 1, "0", "f"},
    {"log10", 1, "0", "f"},
    {"log1p", 1, "0", "f"},
    {"sin", 1, "0", "f"},
    {"cos", 1, "0", "f"},
    {"tanh", 1, "0", "f"},
    {"erf", 1, "0", "f"},
    {"sigmoid", 4, "0", "f"},
    {"logit", 3, "0", "f"},
    {"silu", 4},
    {"gelu", 5},
    {"elu", 3},
    {"softplus", 3},
    {"mish", 5},
    {"hardtanh", 2},
    {"hardswish", 5},
    {"hardsigmoid", 4},
    {"leaky_relu", 2},
    {"clamp", 2},
    {"clamp_min", 1, "01"},
    {"clamp_max", 1, "01"},
    {"nan_to_num", 1},
    {"floor", 1},
    {"ceil", 1},
    {"round", 1},
    {"trunc", 1},
    {"sign", 1},
    {"bitwise_not", 1},
    {"logical_not", 1, "0", "b"},
    {"isnan", 1, "0", "b"},
    {"isinf", 1, "0", "b"},
    {"isfinite", 1, "0", "b"},
    {"add", 1, "01"},
    {"sub", 1, "01"},
    {"rsub", 1, "01"},
    {"mul", 1, "01"},
    {"div", 1, "01", "f"},
    {"true_divide", 1, "01", "f"},
    {"floor_divide", 2, "01"},
    {"remainder", 3, "01"},
    {"fmod", 3, "01"},
    {"pow", 1, "01"},
    {"maximum", 1, "01"},
    {"minimum", 1, "01"},
    {"atan2", 1, "01", "f"},
    {"eq", 1, "01", "b"},
    {"ne", 1, "01", "b"},
    {"lt", 1, "01", "b"},
    {"le", 1, "01", "b"},
    {"gt", 1, "01", "b"},
    {"ge", 1, "01", "b"},
    {"logical_and", 1, "01", "b"},
    {"logical_or", 1, "01", "b"},
    {"logical_xor", 1, "01", "b"},
    {"bitwise_and", 1, "01"},
    {"bitwise_or", 1, "01"},
    {"bitwise_xor", 1, "01"},
    {"masked_fill", 0, "01"},
    {"where", 0, "012"},
    {"lerp", 3, "012"},
    {"addcmul", 3, "012"},
    {"addcdiv", 3, "012"},
    {"threshold_backward", 1, "01"},
    {"gelu_backward", 12, "01"},
    {"silu_backward", 8, "01"},
    {"sigmoid_backward", 3, "01"},
    {"tanh_backward", 3, "01"},
    {"logit_backward", 4, "01"},
    {"hardtanh_backward", 3, "01"},
    {"hardswish_backward", 5, "01"},
    {"leaky_relu_backward", 2, "01"},
    {"mse_loss_backward", 3, "012"},
});

constexpr auto rows() {
  std::array<Formula, kFunctions.size()> formulas{};
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    const Function& f = kFunctions[i];
    formulas[i] = {f.name, Family::kElementwise, elementwise, f.flops, f.reads, f.writes};
  }
  return formulas;
}
constexpr auto kFormulas = rows();

}  // namespace

std::span<const Formula> elementwise_formulas() { return kFormulas; }

}  // namespace stepscope::analysis
