// Products of matrices and vectors: 2·m·n·k each, whatever the layout.
#include <algorithm>
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;

// A product of complex numbers takes four of real ones.
Amount per_multiply_add(Dtype dtype) { return is_complex(dtype) ? 8 : 2; }

// Two 4-bit numbers share an element along the summed dimension.
Amount along(std::int64_t k, Dtype dtype) { return dtype == Dtype::kFp4Pair ? Amount(k) * 2 : k; }

bool has_rank(const Tensor* tensor, std::size_t rank) {
  return tensor != nullptr && tensor->rank() == rank;
}

// Batches of (m × k)·(k × n), with what is added to them.
struct Product {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  const Tensor* added = nullptr;
  Amount batch = 1;
  std::int64_t m = 1, n = 1, k = 1;
  Amount out_elements = 0;
  Dtype out = Dtype::kUnknown;
};

Cost cost_of_product(const Product& p) {
  if (p.a->dtype != p.b->dtype && !(p.a->dtype == Dtype::kFp8 && p.b->dtype == Dtype::kFp8)) {
    return unknown(Missing::kInputs);
  }
  Cost cost;
  cost.dtype = p.a->dtype;
  cost.flops = per_multiply_add(p.a->dtype) * p.batch * p.m * p.n * along(p.k, p.a->dtype);
  cost.bytes = bytes(*p.a) + bytes(*p.b) + bytes(p.out_elements, p.out);
  if (p.added != nullptr) {
    cost.flops += p.out_elements;
    cost.bytes += bytes(*p.added);
  }
  return cost;
}

// An `out` tensor after the inputs must have the result's shape; else the list is of another call.
bool fits_matrix_products(const Call& call, std::size_t inputs, const Dims& out) {
  if (call.size() == inputs) return true;
  const Tensor* last = call.tensor(inputs);
  return call.size() == inputs + 1 && last != nullptr &&
         (last->dims == out || elements(*last).value() == 0);
}

Cost two_matrices(const Call& call, std::size_t first, std::size_t inputs, const Tensor* added) {
  const Tensor* a = call.tensor(first);
  const Tensor* b = call.tensor(first + 1);
  if (!has_rank(a, 2) || !has_rank(b, 2) || a->dims[1] != b->dims[0]) {
    return unknown(Missing::kInputs);
  }
  const std::int64_t m = a->dims[0], k = a->dims[1], n = b->dims[1];
  if (!fits_matrix_products(call, inputs, {m, n})) return unknown(Missing::kInputs);
  const Dtype out = call.formula.name == "_int_mm" ? Dtype::kInt32 : a->dtype;
  return cost_of_product({a, b, added, 1, m, n, k, Amount(m) * n, out});
}

Cost mm(const Call& call) { return two_matrices(call, 0, 2, nullptr); }

Cost addmm(const Call& call) {
  const Tensor* added = call.tensor(0);
  if (added == nullptr || added->rank() > 2) return unknown(Missing::kInputs);
  // beta, alpha, and for the fused activation whether it is gelu
  const std::size_t inputs = call.formula.name == "addmm" ? 5 : 6;
  if (call.value(3) == "0") added = nullptr;  // not even read
  return two_matrices(call, 1, inputs, added);
}

Cost batched(const Call& call, std::size_t first, std::size_t inputs, const Tensor* added,
             bool summed) {
  const Tensor* a = call.tensor(first);
  const Tensor* b = call.tensor(first + 1);
  if (!has_rank(a, 3) || !has_rank(b, 3)) return unknown(Missing::kInputs);
  const std::int64_t batch = a->dims[0], m = a->dims[1], k = a->dims[2], n = b->dims[2];
  const bool agree = b->dims[0] == batch && b->dims[1] == k;
  if (!agree || !fits_matrix_products(call, inputs, summed ? Dims{m, n} : Dims{batch, m, n})) {
    return unknown(Missing::kInputs);
  }
  const Amount out = summed ? Amount(m) * n : Amount(batch) * m * n;
  return cost_of_product({a, b, added, batch, m, n, k, out, a->dtype});
}

Cost bmm(const Call& call) { return batched(call, 0, 2, nullptr, false); }
Cost baddbmm(const Call& call) {
  const Tensor* added = call.tensor(0);
  if (added == nullptr) return unknown(Missing::kInputs);
  return batched(call, 1, 5, added, call.formula.name == "addbmm");
}

Cost matrix_vector(const Call& call, std::size_t first, std::size_t inputs, const Tensor* added) {
  const Tensor* a = call.tensor(first);
  const Tensor* b = call.tensor(first + 1);
  if (!has_rank(a, 2) || !has_rank(b, 1) || a->dims[1] != b->dims[0]) {
    return unknown(Missing::kInputs);
  }
  if (!fits_matrix_products(call, inputs, {a->dims[0]})) return unknown(Missing::kInputs);
  return cost_of_product({a, b, added, 1, a->dims[0], 1, a->dims[1], a->dims[0], a->dtype});
}
Cost mv(const Call& call) { return matrix_vector(call, 0, 2, nullptr); }
Cost addmv(const Call& call) {
  const Tensor* added = call.tensor(0);
  return added == nullptr ? unknown(Missing::kInputs) : matrix_vector(call, 1, 5, added);
}

Cost dot(const Call& call) {
  const Tensor* a = call.tensor(0);
  const Tensor* b = call.tensor(1);
  if (!has_rank(a, 1) || !has_rank(b, 1) || a->dims != b->dims ||
      !fits_matrix_products(call, 2, {})) {
    return unknown(Missing::kInputs);
  }
  return cost_of_product({a, b, nullptr, 1, 1, 1, a->dims[0], 1, a->dtype});
}

// input (…, k), weight (n, k), bias (n) or none
Cost linear(const Call& call) {
  const Tensor* a = call.tensor(0);
  const Tensor* b = call.tensor(1);
  const Tensor* bias = call.tensor(2);
  const bool has_two = a != nullptr && has_rank(b, 2) && a->rank() >= 1;
  if (!has_two || call.size() != 3 || (bias == nullptr && !call.none(2))) {
    return unknown(Missing::kInputs);
  }
  const std::int64_t n = b->dims[0], k = b->dims[1];
  if (a->dims.back() != k || (bias != nullptr && bias->dims != Dims{n})) {
    return unknown(Missing::kInputs);
  }
  const Amount rows = product(std::span(a->dims).first(a->rank() - 1));
  return cost_of_product({a, b, bias, rows, 1, n, k, rows * n, a->dtype});
}

// As torch.matmul: vectors become matrices of one row or column, leading dimensions broadcast.
Cost matmul(const Call& call) {
  const Tensor* a = call.tensor(0);
  const Tensor* b = call.tensor(1);
  if (a == nullptr || b == nullptr || a->rank() == 0 || b->rank() == 0 || call.size() != 2) {
    return unknown(Missing::kInputs);
  }
  Dims left = a->dims, right = b->dims;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  const std::int64_t m = left[left.size() - 2], k = left.back(), n = right.back();
  if (right[right.size() - 2] != k) return unknown(Missing::kInputs);
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Amount batch = 1;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::int64_t x = i < left.size() ? left[left.size() - 1 - i] : 1;
    const std::int64_t y = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return unknown(Missing::kInputs);
    batch *= x == 1 ? y : x;
  }
  return cost_of_product({a, b, nullptr, batch, m, n, k, batch * m * n, a->dtype});
}

// self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum; or, with lists of
// scales, whose types are not recorded, bias and out_dtype in places 8 and 9
Cost scaled_mm(const Call& call) {
  const Tensor* a = call.tensor(0);
  const Tensor* b = call.tensor(1);
  const bool lists = call.formula.name == "_scaled_mm_v2";
  const std::size_t bias = lists ? 8 : 4, type = lists ? 9 : 6;
  if (!has_rank(a, 2) || !has_rank(b, 2) || a->dims[1] != b->dims[0] || call.size() < type + 2) {
    return unknown(Missing::kInputs);
  }
  const auto code = whole_number(call.value(type));
  const Dtype out = code ? dtype_of_code(*code) : call.none(type) ? a->dtype : Dtype::kUnknown;
  const std::int64_t m = a->dims[0], n = b->dims[1];
  Cost cost = cost_of_product({a, b, call.tensor(bias), 1, m, n, a->dims[1], Amount(m) * n, out});
  if (lists && cost.missing == Missing::kNothing) {
    cost.bytes = Amount::unknown();
    cost.missing = Missing::kLists;
    return cost;
  }
  if (!code && out == Dtype::kUnknown && cost.missing == Missing::kNothing) {
    cost.missing = Missing::kValues;  // what type the result has
  }
  for (const std::size_t scale : {std::size_t{2}, std::size_t{3}}) {
    if (const Tensor* factors = call.tensor(scale)) cost.bytes += bytes(*factors);
  }
  return cost;
}

// Groups along m, n or k: every row, column or slice belongs to one group, so no dimension of a
// group multiplies another one's.
Cost grouped_mm(const Call& call) {
  const Tensor* a = call.tensor(0);
  const Tensor* b = call.tensor(1);
  if (a == nullptr || b == nullptr || a->rank() < 2 || b->rank() < 2 || a->rank() > 3 ||
      b->rank() > 3) {
    return unknown(Missing::kInputs);
  }
  const bool both = a->rank() == 3 && b->rank() == 3;
  const std::int64_t m = a->dims[a->rank() - 2], k = a->dims.back(), n = b->dims.back();
  if (b->dims[b->rank() - 2] != k || (both && a->dims[0] != b->dims[0])) {
    return unknown(Missing::kInputs);
  }
  const std::int64_t batch = both ? a->dims[0] : 1;
  Amount out = Amount(batch) * m * n;
  if (a->rank() == 2 && b->rank() == 2) {  // a product per group of k
    const Tensor* offsets = call.tensor(call.formula.name == "_grouped_mm"          ? 2
                                        : call.formula.name == "_scaled_grouped_mm" ? 4
                                                                                    : 8);
    out *= has_rank(offsets, 1) ? Amount(offsets->dims[0]) : Amount::unknown();
  }
  const Dtype type = a->dtype == Dtype::kFp8 ? Dtype::kBfloat16 : a->dtype;
  return cost_of_product({a, b, nullptr, batch, m, n, k, out, type});
}

// The same with lists of scales.
Cost scaled_grouped_mm(const Call& call) {
  Cost cost = grouped_mm(call);
  if (cost.missing == Missing::kNothing) cost.missing = Missing::kLists;
  cost.bytes = Amount::unknown();
  return cost;
}

// self (m × k), weights in 8 or 4 bits, scales: they are widened on the way
Cost weights_in_few_bits(const Call& call) {
  const bool packed = call.formula.name == "_weight_int4pack_mm";  // by eight columns
  const Tensor* a = call.tensor(0);
  const Tensor* b = call.tensor(1);
  const Tensor* scales = call.tensor(packed ? 3 : 2);
  if (!has_rank(a, 2) || !has_rank(b, packed ? 4 : 2) || scales == nullptr) {
    return unknown(Missing::kInputs);
  }
  const std::int64_t m = a->dims[0], k = a->dims[1];
  if (!packed && b->dims[1] != k) return unknown(Missing::kInputs);
  const Amount n = Amount(b->dims[0]) * (packed ? 8 : 1);
  Cost cost;
  cost.dtype = a->dtype;
  cost.flops = Amount(2) * m * n * k;
  cost.bytes = bytes(*a) + bytes(*b) + bytes(*scales) + bytes(n * m, a->dtype);
  return cost;
}

constexpr auto kMatrixProductsFamily = Family::kMatrixProduct;
constexpr std::array kMatrixProductsFormulas = std::to_array<Formula>({
    {"mm", kMatrixProductsFamily, mm},
    {"_int_mm", kMatrixProductsFamily, mm},
    {"addmm", kMatrixProductsFamily, addmm},
    {"_addmm_activation", kMatrixProductsFamily, addmm},
    {"bmm", kMatrixProductsFamily, bmm},
    {"baddbmm", kMatrixProductsFamily, baddbmm},
    {"addbmm", kMatrixProductsFamily, baddbmm},
    {"mv", kMatrixProductsFamily, mv},
    {"addmv", kMatrixProductsFamily, addmv},
    {"dot", kMatrixProductsFamily, dot},
    {"vdot", kMatrixProductsFamily, dot},
    {"linear", kMatrixProductsFamily, linear},
    {"vllm::rocm_unquantized_gemm", kMatrixProductsFamily, linear},
    {"matmul", kMatrixProductsFamily, matmul},
    {"_scaled_mm", kMatrixProductsFamily, scaled_mm},
    {"_grouped_mm", kMatrixProductsFamily, grouped_mm},
    {"_scaled_grouped_mm", kMatrixProductsFamily, grouped_mm},
    {"_scaled_mm_v2", kMatrixProductsFamily, scaled_mm},
    {"_scaled_grouped_mm_v2", kMatrixProductsFamily, scaled_grouped_mm},
    {"_weight_int8pack_mm", kMatrixProductsFamily, weights_in_few_bits},
    {"_weight_int4pack_mm", kMatrixProductsFamily, weights_in_few_bits},
});

}  // namespace

std::span<const Formula> matrix_product_formulas() { return kMatrixProductsFormulas; }

}  // namespace stepscope::analysis
