// Reads the recorded inputs of operators: shapes, types, strides and values.
#include "analysis/operators/op_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace stepscope::analysis {
namespace {

struct TypeName {
  std::string_view name;
  Dtype dtype;
};

// C++ spells a type differently by compiler and library; all of these were seen or are possible.
constexpr std::array kTypeNames = std::to_array<TypeName>({
    {"bool", Dtype::kBool},
    {"unsigned char", Dtype::kUint8},
    {"signed char", Dtype::kInt8},
    {"short", Dtype::kInt16},
    {"short int", Dtype::kInt16},
    {"unsigned short", Dtype::kInt16},
    {"short unsigned int", Dtype::kInt16},
    {"int", Dtype::kInt32},
    {"unsigned int", Dtype::kInt32},
    {"long", Dtype::kInt64},
    {"long int", Dtype::kInt64},
    {"long long", Dtype::kInt64},
    {"long long int", Dtype::kInt64},
    {"unsigned long", Dtype::kInt64},
    {"long unsigned int", Dtype::kInt64},
    {"c10::Half", Dtype::kHalf},
    {"c10::BFloat16", Dtype::kBfloat16},
    {"float", Dtype::kFloat},
    {"double", Dtype::kDouble},
    {"c10::Float8_e4m3fn", Dtype::kFp8},
    {"c10::Float8_e5m2", Dtype::kFp8},
    {"c10::Float8_e4m3fnuz", Dtype::kFp8},
    {"c10::Float8_e5m2fnuz", Dtype::kFp8},
    {"c10::Float8_e8m0fnu", Dtype::kFp8},
    {"c10::Float4_e2m1fn_x2", Dtype::kFp4Pair},
    {"c10::complex<c10::Half>", Dtype::kComplexHalf},
    {"c10::complex<float>", Dtype::kComplexFloat},
    {"c10::complex<double>", Dtype::kComplexDouble},
    {"std::complex<float>", Dtype::kComplexFloat},
    {"std::complex<double>", Dtype::kComplexDouble},
});

struct DtypeFacts {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<DtypeFacts, 16> kFacts = {{{"unknown", 0},
                                                {"bool", 1},
                                                {"uint8", 1},
                                                {"int8", 1},
                                                {"int16", 2},
                                                {"int32", 4},
                                                {"int64", 8},
                                                {"float4", 1},
                                                {"float8", 1},
                                                {"float16", 2},
                                                {"bfloat16", 2},
                                                {"float32", 4},
                                                {"float64", 8},
                                                {"complex32", 4},
                                                {"complex64", 8},
                                                {"complex128", 16}}};

// Reads JSON lists of numbers, texts and lists, without recursion beyond what shapes have. Any
// surprise makes it fail for good.
class OpInputsReader {
 public:
  explicit OpInputsReader(std::string_view text) : text_(text) {}

  bool failed() const { return failed_; }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void fail() { failed_ = true; }

  // Calls element() for every element of a list.
  template <class Element>
  void list(Element element) {
    if (failed_ || !take('[')) return fail();
    if (take(']')) return;
    do {
      element();
      if (failed_) return;
    } while (take(','));
    if (!take(']')) fail();
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string text() {
    std::string out;
    if (!take('"')) return fail(), out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (at_ == text_.size()) return fail(), out;
    ++at_;
    return out;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

// Of one input: the numbers of a tensor, or of each tensor of a list.
struct Numbers {
  std::vector<std::int64_t> own;
  std::vector<std::vector<std::int64_t>> nested;
};

Numbers numbers_of_input(OpInputsReader& reader) {
  Numbers found;
  reader.list([&] {
    if (reader.next_is('[')) {
      std::vector<std::int64_t> inner;
      reader.list([&] { inner.push_back(reader.number()); });
      found.nested.push_back(std::move(inner));
    } else {
      found.own.push_back(reader.number());
    }
  });
  return found;
}

bool read_numbers(std::string_view text, std::vector<Numbers>& out) {
  OpInputsReader reader(text);
  reader.list([&] { out.push_back(numbers_of_input(reader)); });
  return !reader.failed() && reader.at_end();
}

bool read_texts(std::string_view text, std::vector<std::string>& out) {
  OpInputsReader reader(text);
  reader.list([&] {
    // A value that is a number or a list by itself is kept as it is written nowhere else: unknown.
    if (reader.next_is('"')) {
      out.push_back(reader.text());
    } else {
      reader.fail();
    }
  });
  return !reader.failed() && reader.at_end();
}

bool all_plausible(const std::vector<std::int64_t>& dims) {
  return std::ranges::all_of(dims, [](std::int64_t dim) { return dim >= 0; });
}

InputKind op_inputs_kind_of(std::string_view type, const Numbers& dims) {
  if (type == "TensorList") return InputKind::kTensorList;
  if (type == "GenericList") return dims.nested.empty() ? InputKind::kList : InputKind::kTensorList;
  if (type == "ScalarList") return InputKind::kList;
  if (type == "Scalar" || type == "Int" || type == "Double" || type == "Bool") {
    return InputKind::kScalar;
  }
  if (type.empty()) return dims.own.empty() ? InputKind::kNone : InputKind::kUnknown;
  // A nested tensor has no one size.
  const bool has_size = dims.nested.empty() && type.find("Nested") == std::string_view::npos;
  return has_size ? InputKind::kTensor : InputKind::kUnknown;
}

// torch writes strides of every tensor that has them, where it writes any.
void add_strides(Tensor& tensor, const std::vector<std::int64_t>& strides) {
  if (strides.size() == tensor.dims.size()) tensor.strides = strides;
  tensor.is_strided = !strides.empty() || tensor.dims.empty();
}

Input make_input(std::string_view type, const Numbers& dims, const Numbers* strides) {
  Input input;
  input.kind = op_inputs_kind_of(type, dims);
  if (input.kind == InputKind::kTensor) {
    input.tensor = {dims.own, {}, dtype_of(type)};
    if (!all_plausible(dims.own)) input.kind = InputKind::kUnknown;
    if (strides != nullptr) add_strides(input.tensor, strides->own);
  }
  if (input.kind != InputKind::kTensorList) return input;
  for (std::size_t i = 0; i < dims.nested.size(); ++i) {
    Tensor tensor{dims.nested[i], {}, Dtype::kUnknown};
    if (!all_plausible(tensor.dims)) input.kind = InputKind::kUnknown;
    if (strides != nullptr && i < strides->nested.size()) add_strides(tensor, strides->nested[i]);
    input.list.push_back(std::move(tensor));
  }
  return input;
}

}  // namespace

Dtype dtype_of(std::string_view type_name) {
  const auto* found = std::ranges::find(kTypeNames, type_name, &TypeName::name);
  return found == kTypeNames.end() ? Dtype::kUnknown : found->dtype;
}

std::string_view name_of(Dtype dtype) { return kFacts[static_cast<std::size_t>(dtype)].name; }
std::int64_t bytes_of(Dtype dtype) { return kFacts[static_cast<std::size_t>(dtype)].bytes; }
bool is_float(Dtype dtype) { return dtype >= Dtype::kFp4Pair && dtype <= Dtype::kDouble; }
bool is_complex(Dtype dtype) { return dtype >= Dtype::kComplexHalf; }

OpInputs read_inputs(std::string_view dims, std::string_view types, std::string_view strides,
                     std::string_view values) {
  OpInputs out;
  std::vector<Numbers> shapes, steps;
  std::vector<std::string> names, written;
  if (!read_numbers(dims, shapes) || !read_texts(types, names)) return out;
  if (shapes.size() != names.size()) return out;
  // Strides and values are extras: without them less is known, but shapes still hold.
  const bool has_strides = read_numbers(strides, steps) && steps.size() == shapes.size();
  const bool has_values = read_texts(values, written) && written.size() == shapes.size();
  out.inputs.reserve(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    out.inputs.push_back(make_input(names[i], shapes[i], has_strides ? &steps[i] : nullptr));
    if (has_values) out.inputs.back().value = std::move(written[i]);
  }
  out.readable = true;
  return out;
}

std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view value) {
  std::vector<std::int64_t> numbers;
  OpInputsReader reader(value);
  reader.list([&] { numbers.push_back(reader.number()); });
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return numbers;
}

std::optional<std::int64_t> whole_number(std::string_view value) {
  OpInputsReader reader(value);
  const std::int64_t number = reader.number();
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return number;
}

std::optional<bool> truth(std::string_view value) {
  if (value == "True" || value == "true") return true;
  if (value == "False" || value == "false") return false;
  return std::nullopt;
}

std::optional<std::vector<bool>> truths(std::string_view value) {
  if (value.size() < 2 || value.front() != '[' || value.back() != ']') return std::nullopt;
  value = value.substr(1, value.size() - 2);
  std::vector<bool> out;
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    std::string_view word = value.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    const std::optional<bool> one = truth(word);
    if (!one) return std::nullopt;
    out.push_back(*one);
    if (comma == std::string_view::npos) break;
    value.remove_prefix(comma + 1);
  }
  return out;
}

}  // namespace stepscope::analysis
