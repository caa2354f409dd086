// What an operator was called with, from the texts a trace holds: shapes, types, strides, values.
// Read once per distinct signature. What cannot be read is marked unknown, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::analysis {

enum class Dtype : std::uint8_t {
  kUnknown,
  kBool,
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp4Pair,  // two 4-bit numbers in a byte
  kFp8,      // of all kinds
  kHalf,
  kBfloat16,
  kFloat,
  kDouble,
  kComplexHalf,
  kComplexFloat,
  kComplexDouble,
};

// Of type names as torch wrote them over the years: "float", "c10::BFloat16", "long int".
Dtype dtype_of(std::string_view type_name);
std::string_view name_of(Dtype dtype);  // "bfloat16", as torch names it in Python
std::int64_t bytes_of(Dtype dtype);     // of one element; 0: unknown
bool is_float(Dtype dtype);
bool is_complex(Dtype dtype);

struct Tensor {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  // empty where none were recorded
  Dtype dtype = Dtype::kUnknown;
  bool is_strided = true;  // false: a sparse one, whose sizes do not say how much it holds

  std::size_t rank() const { return dims.size(); }
};

enum class InputKind : std::uint8_t {
  kNone,        // not given, or a tensor that is not defined
  kTensor,      //
  kTensorList,  //
  kScalar,      // a number or a truth
  kList,        // of scalars
  kUnknown,
};

struct Input {
  InputKind kind = InputKind::kUnknown;
  Tensor tensor;
  std::vector<Tensor> list;  // of a list of tensors; their types are not recorded
  std::string value;         // of a scalar or a list of them, as written; empty: not recorded
};

struct OpInputs {
  std::vector<Input> inputs;
  bool readable = false;  // false: no shapes, or texts that do not fit together
};

// The texts are JSON lists, one entry per input; empty ones were not in the trace.
OpInputs read_inputs(std::string_view dims, std::string_view types, std::string_view strides,
                     std::string_view values);

// "[2, 2]", "3", "True" as values hold them; nothing when the text is something else.
std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view value);
std::optional<std::int64_t> whole_number(std::string_view value);
std::optional<bool> truth(std::string_view value);
std::optional<std::vector<bool>> truths(std::string_view value);

}  // namespace stepscope::analysis
