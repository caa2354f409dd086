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
  bool has_complex() const { return is_complex(type) || is_complex(single); }
  Dtype promoted() const {
    if (type == Dtype::kUnknown) return single;
    if (single == Dtype::kUnknown || category(type) >= category(single)) return type;
    // A number of Python's looks the same, and makes a narrower result than a tensor would.
    if (single == Dtype::kDouble || single == Dtype::kComplexDouble) return Dtype::kUnknown;
    return single;
  }
};

// Of complex numbers a function has more operations, which are known of few: parts are added, and
// all pairs multiplied. 0: what moves, and nothing else.
std::optional<std::int64_t> complex_factor(const Formula& row, bool both) {
  if (row.factor == 0) return 0;
  if (row.name == "add" || row.name == "sub" || row.name == "rsub" || row.name == "neg") return 2;
  if (row.name == "mul") return both ? 6 : 2;
  return std::nullopt;
}

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
  std::int64_t factor = row.factor;
  if (result.has_complex()) {
    const auto is_real = [&](char digit) {
      const Tensor* tensor = call.tensor(static_cast<std::size_t>(digit - '0'));
      return tensor == nullptr || !is_complex(tensor->dtype);
    };
    const auto known = complex_factor(row, std::ranges::none_of(row.reads, is_real));
    if (!known) return unknown(Missing::kInputs);
    factor = *known;
  }
  const bool whole = out != Dtype::kUnknown && category(out) < 2;
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
  cost.flops = count * factor;
  cost.bytes += bytes(count, out);
  return cost;
}

// self (n × m or broadcast to it), a column of n, a row of m, beta: all products of the column's
// numbers and the row's, and self added.
Cost outer_product(const Call& call) {
  const Tensor* added = call.tensor(0);
  const Tensor* column = call.tensor(1);
  const Tensor* row = call.tensor(2);
  if (added == nullptr || column == nullptr || row == nullptr || column->rank() != 1 ||
      row->rank() != 1 || call.size() < 5) {
    return unknown(Missing::kInputs);
  }
  const bool ignored = call.value(3) == "0";  // not even read
  Result result;
  result.add(*column);
  result.add(*row);
  if (!ignored) result.add(*added);
  if (result.has_complex()) return unknown(Missing::kInputs);
  const Amount count = Amount(column->dims[0]) * row->dims[0];
  Cost cost;
  cost.dtype = result.promoted();
  cost.flops = count * (ignored ? 1 : 2);
  cost.bytes = bytes(*column) + bytes(*row) + bytes(count, cost.dtype);
  if (!ignored) cost.bytes += bytes(*added);
  return cost;
}

// self, dim: one half through a sigmoid, times the other
Cost gated(const Call& call) {
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  const Amount both = elements(*x);
  if (both.known() && *both.value() % 2 != 0) return unknown(Missing::kInputs);
  const Amount half = both.known() ? Amount(*both.value() / 2) : Amount::unknown();
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = half * call.formula.factor;
  cost.bytes = bytes(*x) + bytes(half, x->dtype);
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
    {"erfc", 1, "0", "f"},
    {"erfinv", 1, "0", "f"},
    {"lgamma", 1, "0", "f"},
    {"digamma", 1, "0", "f"},
    {"tan", 1, "0", "f"},
    {"asin", 1, "0", "f"},
    {"acos", 1, "0", "f"},
    {"atan", 1, "0", "f"},
    {"sinh", 1, "0", "f"},
    {"cosh", 1, "0", "f"},
    {"asinh", 1, "0", "f"},
    {"acosh", 1, "0", "f"},
    {"atanh", 1, "0", "f"},
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
    {"softshrink", 2},
    {"hardshrink", 1},
    {"log_sigmoid_forward", 5},
    {"_prelu_kernel", 2, "01"},
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
    {"sgn", 1},
    {"frac", 1},
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
    {"fmax", 1, "01"},
    {"fmin", 1, "01"},
    {"atan2", 1, "01", "f"},
    {"hypot", 1, "01"},
    {"copysign", 1, "01", "f"},
    {"nextafter", 1, "01"},
    {"heaviside", 1, "01"},
    {"xlogy", 2, "01", "f"},
    {"logaddexp", 5, "01", "f"},
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
    {"elu_backward", 4, "05"},
    {"mish_backward", 12, "01"},
    {"softplus_backward", 4, "01"},
    {"softshrink_backward", 2, "01"},
    {"hardshrink_backward", 1, "01"},
    {"hardsigmoid_backward", 2, "01"},
    {"log_sigmoid_backward", 6, "01"},
    // Losses keep every element; an operator inside sums them.
    {"mse_loss", 2, "01"},
    {"mse_loss_backward", 3, "012"},
    {"smooth_l1_loss", 5, "01"},
    {"smooth_l1_loss_backward", 4, "012"},
    {"huber_loss", 5, "01"},
    {"huber_loss_backward", 4, "012"},
});

constexpr auto rows_elementwise() {
  std::array<Formula, kFunctions.size() + 2> formulas{};
  formulas[kFunctions.size()] = {"addr", Family::kElementwise, outer_product};
  formulas[kFunctions.size() + 1] = {"glu", Family::kElementwise, gated, 5};
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    const Function& f = kFunctions[i];
    formulas[i] = {f.name, Family::kElementwise, elementwise, f.flops, f.reads, f.writes};
  }
  return formulas;
}
constexpr auto kElementwiseFormulas = rows_elementwise();

}  // namespace

std::span<const Formula> elementwise_formulas() { return kElementwiseFormulas; }

}  // namespace stepscope::analysis
