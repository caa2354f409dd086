// A count that knows when it does not know: what is unknown, or too large for 63 bits, stays
// unknown through every sum and product. So formulas are written as on paper.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/operators/op_inputs.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
