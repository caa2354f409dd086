#include "analysis/costs/amount.h"

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

}  // namespace stepscope::analysis
