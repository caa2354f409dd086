// Many elements to one: sums, means, norms, extremes; and pooling, which does it in windows.
#include <algorithm>
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;

// Elements left when these dimensions are gone; no dimension named means all of them.
std::optional<Amount> left(const Tensor& x, const Dims& gone) {
  if (gone.empty()) return Amount(1);
  Dims dims = x.dims;
  for (const std::int64_t dim : gone) {
    const std::int64_t place = dim < 0 ? dim + static_cast<std::int64_t>(dims.size()) : dim;
    if (place < 0 || place >= static_cast<std::int64_t>(dims.size())) {
      if (dims.empty() && (dim == 0 || dim == -1)) continue;
      return std::nullopt;
    }
    dims[static_cast<std::size_t>(place)] = 1;
  }
  return product(dims);
}

// reads: the place of the list of dimensions; writes: b truths, i positions, v values and
// positions, s a sum (whole numbers become 64 bits), else the type of the input.
Cost reduction(const Call& call) {
  const Formula& row = call.formula;
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*x) * row.factor;
  const std::size_t place = static_cast<std::size_t>(row.reads.front() - '0');
  const bool takes_list = place < call.size() && call.in.inputs[place].kind == InputKind::kList;
  const bool takes_one = place < call.size() && call.in.inputs[place].kind == InputKind::kScalar;
  Dims gone;
  bool named = true;
  if (takes_list || (takes_one && row.name != "linalg_vector_norm")) {
    // The second argument of the form over all elements is a type, which is a scalar as well.
    const bool is_type = takes_one && call.size() == 2 && row.writes == "s";
    if (!is_type) {
      const std::string_view value = call.value(place);
      if (const auto list = whole_numbers(value)) {
        gone = *list;
      } else if (const auto one = whole_number(value)) {
        gone = {*one};
      } else {
        named = false;
      }
    }
  }
  const auto count = named ? left(*x, gone) : std::optional<Amount>();
  if (!count) {
    cost.missing = named ? Missing::kInputs : Missing::kValues;
    if (named) return unknown(Missing::kInputs);
    return cost;
  }
  const bool whole = x->dtype != Dtype::kUnknown && x->dtype <= Dtype::kInt64;
  Dtype out = x->dtype;
  if (row.writes == "s" && whole) out = Dtype::kInt64;
  if (row.writes == "b") out = Dtype::kBool;
  if (row.writes == "i") out = Dtype::kInt64;
  // A result type that was asked for comes last of the named arguments.
  const std::size_t asked = call.size() == 2 ? 1 : 3;
  if (row.writes == "s" && call.size() >= 2) {
    if (const auto code = whole_number(call.value(asked))) out = dtype_of_code(*code);
  }
  cost.bytes = bytes(*x) + bytes(*count, out);
  if (row.writes == "v" && call.size() > 1) cost.bytes += *count * 8;
  return cost;
}

// One pass that gives a result of the same size.
Cost running(const Call& call) {
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  const bool whole = x->dtype != Dtype::kUnknown && x->dtype <= Dtype::kInt64;
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*x);
  cost.bytes = bytes(*x) + bytes(elements(*x), whole ? Dtype::kInt64 : x->dtype);
  return cost;
}

// self, kernel_size, stride, padding, dilation, ceil_mode
Cost max_pool2d(const Call& call) {
  const Tensor* x = call.tensor(0);
  if (x == nullptr || (x->rank() != 4 && x->rank() != 3)) return unknown(Missing::kInputs);
  const auto list = [&](std::size_t place) {
    auto numbers = whole_numbers(call.value(place));
    if (numbers && numbers->size() == 1) numbers->push_back(numbers->front());
    return numbers;
  };
  const auto kernel = list(1), padding = list(3), dilation = list(4);
  auto stride = list(2);
  const auto up = truth(call.value(5));
  if (stride && stride->empty()) stride = kernel;
  for (const auto* numbers :
       std::array<const std::optional<Dims>*, 4>{&kernel, &stride, &padding, &dilation}) {
    if (!*numbers || (*numbers)->size() != 2) return unknown(Missing::kValues);
  }
  if (!up || *up) return unknown(Missing::kValues);
  Amount out = product(std::span(x->dims).first(x->rank() - 2));
  for (std::size_t i = 0; i < 2; ++i) {
    const Amount room = Amount((*padding)[i]) * 2 + x->dims[x->rank() - 2 + i] +
                        Amount((*dilation)[i]) * ((*kernel)[i] - 1) * -1 + -1;
    if (!room.known() || *room.value() < 0 || (*stride)[i] <= 0) return unknown(Missing::kValues);
    out *= *room.value() / (*stride)[i] + 1;
  }
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = out * (*kernel)[0] * (*kernel)[1];
  cost.bytes = bytes(*x) + bytes(out, x->dtype) + out * 8;
  return cost;
}

constexpr auto kFamily = Family::kReduction;
constexpr std::array kFormulas = std::to_array<Formula>({
    {"sum", kFamily, reduction, 1, "1", "s"},
    {"nansum", kFamily, reduction, 1, "1", "s"},
    {"prod", kFamily, reduction, 1, "1", "s"},
    {"mean", kFamily, reduction, 1, "1", "s"},
    {"max", kFamily, reduction, 1, "1", "v"},
    {"min", kFamily, reduction, 1, "1", "v"},
    {"amax", kFamily, reduction, 1, "1"},
    {"amin", kFamily, reduction, 1, "1"},
    {"argmax", kFamily, reduction, 1, "1", "i"},
    {"argmin", kFamily, reduction, 1, "1", "i"},
    {"any", kFamily, reduction, 1, "1", "b"},
    {"all", kFamily, reduction, 1, "1", "b"},
    {"logsumexp", kFamily, reduction, 3, "1"},
    {"linalg_vector_norm", kFamily, reduction, 2, "2"},
    {"cumsum", kFamily, running},
    {"cumprod", kFamily, running},
    {"max_pool2d_with_indices", Family::kPooling, max_pool2d},
});

}  // namespace

std::span<const Formula> reduction_formulas() { return kFormulas; }

}  // namespace stepscope::analysis
