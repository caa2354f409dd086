// What a call of an operator costs by its inputs: arithmetic and memory traffic. One row per
// operator name, one file per family of formulas; each is explained on docs/metrics/costs.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/operators/op_inputs.h"

namespace stepscope::analysis {

// A count that knows when it does not know: what is unknown, or too large for 63 bits, stays
// unknown through every sum and product. So formulas are written as on paper.

class Amount {
 public:
  Amount(std::int64_t value) : value_(value) {}
  static Amount unknown() { return Amount(std::optional<std::int64_t>()); }

  bool known() const { return value_.has_value(); }
  std::optional<std::int64_t> value() const { return value_; }

  friend Amount operator+(const Amount& a, const Amount& b) {
    std::int64_t out = 0;
    if (!a.known() || !b.known() || __builtin_add_overflow(*a.value_, *b.value_, &out)) {
      return unknown();
    }
    return out;
  }
  friend Amount operator*(const Amount& a, const Amount& b) {
    std::int64_t out = 0;
    if (!a.known() || !b.known() || __builtin_mul_overflow(*a.value_, *b.value_, &out)) {
      return unknown();
    }
    return out;
  }
  Amount& operator+=(const Amount& other) { return *this = *this + other; }
  Amount& operator*=(const Amount& other) { return *this = *this * other; }

 private:
  explicit Amount(std::optional<std::int64_t> value) : value_(value) {}
  std::optional<std::int64_t> value_;
};

Amount product(std::span<const std::int64_t> numbers);

Amount elements(const Tensor& tensor);
// Bytes that reading or writing the tensor moves at least: a dimension of stride 0 repeats the same
// addresses and counts once. Unknown for types of unknown size.
Amount bytes(const Tensor& tensor);
Amount bytes(const Amount& element_count, Dtype dtype);

enum class Family : std::uint8_t {
  kMatrixProduct,
  kConvolution,
  kAttention,
  kNormalisation,
  kSoftmax,
  kElementwise,
  kReduction,
  kPooling,
  kIndexing,  // embeddings, gather, scatter
  kCopy,
  kFill,
  kOptimizer,
  kCount
};
std::string_view name_of(Family family);  // "matrix product", "elementwise"

// Families made of multiply-adds: what tensor cores do and what MFU counts.
constexpr bool multiplies_matrices(Family family) { return family <= Family::kAttention; }

// Why a cost, or a part of it, is not known.
enum class Missing : std::uint8_t {
  kNothing,
  kFormula,  // no formula for this operator
  kShapes,   // the trace has no shapes for this call
  kInputs,   // inputs are not those the formula is for
  kValues,   // a value it depends on was not recorded: padding, whether causal
  kTypes,    // a type of unknown size
  kStrides,  // a tensor that is walked backwards
  kLayout,   // a sparse tensor: the sizes do not say how much there is to do
  kLists,    // shapes or types of the tensors of a list were not recorded
  kLengths,  // the work depends on data: lengths of packed sequences
  kTooLarge,
  kParts,     // calls inside this one are counted themselves
  kOperator,  // launched outside any operator
  kLaunch,    // the launch is not in the trace, so what launched it is not known
  kCount
};
std::string_view name_of(Missing missing);  // a phrase: "no formula for the operator"

struct Cost {
  Amount flops = Amount::unknown();  // 2 for a multiply-add
  Amount bytes = Amount::unknown();  // inputs read once, outputs written once
  Amount masked_flops = 0;      // what a causal mask saves, without recomputation: not in flops
  Amount recomputed_flops = 0;  // of flops: done a second time to save memory
  Amount masked_recomputed_flops = 0;   // what the mask saves of that: not in flops
  Dtype dtype = Dtype::kUnknown;        // of the inputs the arithmetic is done on
  Missing missing = Missing::kNothing;  // why flops or, with flops known, bytes are not
  bool by_profiler = false;             // flops are its count, for want of a formula's
};

struct Formula;
struct Call {
  const Formula& formula;
  const OpInputs& in;
  bool in_place = false;

  std::size_t size() const { return in.inputs.size(); }
  // The tensor at a place, or nullptr.
  const Tensor* tensor(std::size_t place) const {
    if (place >= size() || in.inputs[place].kind != InputKind::kTensor) return nullptr;
    return &in.inputs[place].tensor;
  }
  bool none(std::size_t place) const {
    return place >= size() || in.inputs[place].kind == InputKind::kNone;
  }
  // The value at a place as text; empty when there is none.
  std::string_view value(std::size_t place) const {
    return place < size() ? std::string_view(in.inputs[place].value) : std::string_view();
  }
};

struct Formula {
  std::string_view name;  // without "aten::" and without the "_" of in-place operators
  Family family;
  Cost (*cost)(const Call& call);
  std::int64_t factor = 1;  // FLOPs per element, for formulas that count elements
  // Places of inputs, a digit each; what they mean is the formula's business.
  std::string_view reads = {};
  std::string_view writes = {};
};

Cost unknown(Missing missing);

// Of an operator as the trace names it; nullptr where there is none.
const Formula* find_formula(std::string_view operator_name);
Cost cost_of(const Formula& formula, std::string_view operator_name, const OpInputs& inputs);

// torch's numbers for types, as values hold them: 15 is bfloat16.
Dtype dtype_of_code(std::int64_t code);

// The rows by family.
std::span<const Formula> matrix_product_formulas();
std::span<const Formula> convolution_formulas();
std::span<const Formula> attention_formulas();
std::span<const Formula> streamed_formulas();
std::span<const Formula> elementwise_formulas();
std::span<const Formula> reduction_formulas();
std::span<const Formula> indexing_formulas();
std::span<const Formula> list_formulas();
std::span<const Formula> pooling_formulas();
std::span<const Formula> recurrent_formulas();

}  // namespace stepscope::analysis
