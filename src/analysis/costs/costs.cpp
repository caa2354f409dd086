// The table of formulas by operator name, and the counts they share.
#include "analysis/costs/costs.h"

#include <algorithm>
#include <array>
#include <vector>

namespace stepscope::analysis {

Amount product(std::span<const std::int64_t> numbers) {
  Amount out = 1;
  bool empty = false;
  for (const std::int64_t number : numbers) empty = empty || number == 0;
  if (empty) return 0;  // whatever the others are
  for (const std::int64_t number : numbers) out *= number;
  return out;
}

Amount elements(const Tensor& tensor) { return product(tensor.dims); }

Amount bytes(const Tensor& tensor) {
  if (tensor.strides.size() != tensor.dims.size()) return bytes(elements(tensor), tensor.dtype);
  std::vector<std::int64_t> dims = tensor.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (tensor.strides[i] < 0) return Amount::unknown();
    if (tensor.strides[i] == 0 && dims[i] > 1) dims[i] = 1;
  }
  return bytes(product(dims), tensor.dtype);
}

Amount bytes(const Amount& element_count, Dtype dtype) {
  if (bytes_of(dtype) == 0) return Amount::unknown();
  return element_count * bytes_of(dtype);
}

namespace {

// By name; built once, never changed.
const std::vector<const Formula*>& table() {
  static const std::vector<const Formula*> kTable = [] {
    std::vector<const Formula*> rows;
    const auto add = [&](std::span<const Formula> family) {
      for (const Formula& formula : family) rows.push_back(&formula);
    };
    add(matrix_product_formulas());
    add(convolution_formulas());
    add(attention_formulas());
    add(streamed_formulas());
    add(elementwise_formulas());
    add(reduction_formulas());
    add(indexing_formulas());
    add(list_formulas());
    add(pooling_formulas());
    add(recurrent_formulas());
    std::ranges::sort(rows, {}, [](const Formula* row) { return row->name; });
    return rows;
  }();
  return kTable;
}

const Formula* find_row(std::string_view name) {
  const auto& rows = table();
  const auto by_name = [](const Formula* row) { return row->name; };
  const auto found = std::ranges::lower_bound(rows, name, {}, by_name);
  return found != rows.end() && (*found)->name == name ? *found : nullptr;
}

std::string_view without_namespace(std::string_view name) {
  constexpr std::string_view kAten = "aten::";
  return name.starts_with(kAten) ? name.substr(kAten.size()) : name;
}

bool any_backwards(const OpInputs& inputs) {
  const auto is_negative = [](std::int64_t stride) { return stride < 0; };
  return std::ranges::any_of(inputs.inputs, [&](const Input& input) {
    return std::ranges::any_of(input.tensor.strides, is_negative);
  });
}

bool any_sparse(const OpInputs& inputs) {
  const auto is_sparse = [](const Tensor& tensor) { return !tensor.is_strided; };
  return std::ranges::any_of(inputs.inputs, [&](const Input& input) {
    return is_sparse(input.tensor) || std::ranges::any_of(input.list, is_sparse);
  });
}

bool names_in_place(std::string_view name) {
  return name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
}

}  // namespace

std::string_view name_of(Family family) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Family::kCount)> kNames = {
      "matrix product", "convolution", "attention", "normalisation", "softmax", "elementwise",
      "reduction",      "pooling",     "indexing",  "copy",          "fill",    "optimizer"};
  return kNames[static_cast<std::size_t>(family)];
}

std::string_view name_of(Missing missing) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Missing::kCount)> kNames = {
      "nothing",
      "no formula for the operator",
      "no shapes in the trace",
      "inputs the formula is not for",
      "a value that was not recorded",
      "a type of unknown size",
      "strides that run backwards",
      "how much a sparse tensor holds",
      "tensors of a list, which were not recorded",
      "lengths that only the data knows",
      "numbers too large",
      "its parts, which are counted themselves",
      "launched outside any operator",
      "its launch, which was not recorded"};
  return kNames[static_cast<std::size_t>(missing)];
}

Cost unknown(Missing missing) {
  Cost cost;
  cost.missing = missing;
  return cost;
}

const Formula* find_formula(std::string_view operator_name) {
  const std::string_view name = without_namespace(operator_name);
  if (const Formula* found = find_row(name)) return found;
  return names_in_place(name) ? find_row(name.substr(0, name.size() - 1)) : nullptr;
}

Cost cost_of(const Formula& formula, std::string_view operator_name, const OpInputs& inputs) {
  if (!inputs.readable) return unknown(Missing::kShapes);
  if (any_sparse(inputs)) return unknown(Missing::kLayout);
  const bool in_place = names_in_place(without_namespace(operator_name));
  Cost cost = formula.cost({formula, inputs, in_place});
  if (cost.missing == Missing::kNothing && !cost.flops.known()) cost.missing = Missing::kTooLarge;
  if (cost.missing == Missing::kNothing && !cost.bytes.known()) {
    cost.missing = any_backwards(inputs) ? Missing::kStrides : Missing::kTypes;
  }
  return cost;
}

Dtype dtype_of_code(std::int64_t code) {
  constexpr std::array kCodes = {Dtype::kUint8,        Dtype::kInt8,          Dtype::kInt16,
                                 Dtype::kInt32,        Dtype::kInt64,         Dtype::kHalf,
                                 Dtype::kFloat,        Dtype::kDouble,        Dtype::kComplexHalf,
                                 Dtype::kComplexFloat, Dtype::kComplexDouble, Dtype::kBool};
  if (code >= 0 && code < static_cast<std::int64_t>(kCodes.size())) {
    return kCodes[static_cast<std::size_t>(code)];
  }
  if (code == 15) return Dtype::kBfloat16;
  if (code >= 23 && code <= 26) return Dtype::kFp8;
  return Dtype::kUnknown;
}

}  // namespace stepscope::analysis
