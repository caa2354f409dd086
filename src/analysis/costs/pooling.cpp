// Windows of an image that become one element, and images made larger or smaller.
#include <algorithm>
#include <array>
#include <numeric>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;
using PoolingPlace = std::size_t;

// Of an image, as the operator's name says: "avg_pool2d" has 2.
std::size_t dimensions_of(std::string_view name) {
  return name.find("3d") != name.npos ? 3 : name.find("1d") != name.npos ? 1 : 2;
}

// Sizes, none of them negative.
std::optional<Dims> sizes_at(const Call& call, PoolingPlace place) {
  auto numbers = whole_numbers(call.value(place));
  const auto is_negative = [](std::int64_t number) { return number < 0; };
  if (numbers && std::ranges::any_of(*numbers, is_negative)) return std::nullopt;
  return numbers;
}

// One for each dimension; a single one stands for all.
std::optional<Dims> pooling_per_dimension(const Call& call, PoolingPlace place, std::size_t count) {
  auto numbers = sizes_at(call, place);
  if (numbers && numbers->size() == 1) numbers->resize(count, numbers->front());
  return numbers;
}

std::span<const std::int64_t> image(const Tensor& x, std::size_t count) {
  return std::span(x.dims).last(count);
}

// Channels and batches.
Amount images(const Tensor& x, std::size_t count) {
  return product(std::span(x.dims).first(x.rank() - count));
}

bool has_image(const Tensor* x, std::size_t count) {
  return x != nullptr && (x->rank() == count + 1 || x->rank() == count + 2);
}

struct Window {
  std::int64_t in, kernel, stride, padding, dilation;
};

// How many windows there are; a last one that is not whole counts when asked for, if it begins in
// the image.
std::optional<std::int64_t> windows(const Window& w, bool up) {
  const Amount room = Amount(w.padding) * 2 + w.in + Amount(w.dilation) * (w.kernel - 1) * -1 + -1;
  if (!room.known() || *room.value() < 0 || w.stride <= 0) return std::nullopt;
  const std::int64_t whole = *room.value() / w.stride + 1;
  if (!up || *room.value() % w.stride == 0) return whole;
  const Amount begin = Amount(whole) * w.stride;
  if (!begin.known()) return std::nullopt;
  return *begin.value() < w.in + w.padding ? whole + 1 : whole;
}

// self, kernel_size, stride, padding, dilation (of the largest), ceil_mode
Cost pool(const Call& call) {
  const std::size_t count = dimensions_of(call.formula.name);
  const Tensor* x = call.tensor(0);
  if (!has_image(x, count)) return unknown(Missing::kInputs);
  const bool largest = call.formula.name.starts_with("max");
  const auto kernel = pooling_per_dimension(call, 1, count),
             padding = pooling_per_dimension(call, 3, count);
  const auto dilation = largest ? pooling_per_dimension(call, 4, count) : Dims(count, 1);
  auto stride = pooling_per_dimension(call, 2, count);
  const auto up = truth(call.value(largest ? 5 : 4));
  if (stride && stride->empty()) stride = kernel;
  for (const auto* numbers :
       std::array<const std::optional<Dims>*, 4>{&kernel, &stride, &padding, &dilation}) {
    if (!*numbers || (*numbers)->size() != count) return unknown(Missing::kValues);
  }
  if (!up) return unknown(Missing::kValues);
  Amount out = images(*x, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = windows(
        {image(*x, count)[i], (*kernel)[i], (*stride)[i], (*padding)[i], (*dilation)[i]}, *up);
    if (!found) return unknown(Missing::kValues);
    out *= *found;
  }
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = out * product(*kernel);
  cost.bytes = bytes(*x) + bytes(out, x->dtype);
  if (largest) cost.bytes += out * 8;  // where it was
  return cost;
}

// grad_output, self, kernel_size: each is given to all of its window
Cost average_backward(const Call& call) {
  const std::size_t count = dimensions_of(call.formula.name);
  const Tensor* grad = call.tensor(0);
  const Tensor* x = call.tensor(1);
  if (!has_image(grad, count) || !has_image(x, count)) return unknown(Missing::kInputs);
  const auto kernel = pooling_per_dimension(call, 2, count);
  if (!kernel || kernel->size() != count) return unknown(Missing::kValues);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*grad) * product(*kernel);
  cost.bytes = bytes(*grad) + bytes(elements(*x), x->dtype);
  return cost;
}

// Elements of all windows together: they overlap where one size does not divide the other.
Amount in_windows(std::span<const std::int64_t> in, std::span<const std::int64_t> out) {
  Amount all = 1;
  for (std::size_t i = 0; i < in.size(); ++i) {
    all *= Amount(in[i]) + out[i] + -std::gcd(in[i], out[i]);
  }
  return all;
}

// self, output_size
Cost adaptive(const Call& call) {
  const std::size_t count = dimensions_of(call.formula.name);
  const Tensor* x = call.tensor(0);
  if (!has_image(x, count)) return unknown(Missing::kInputs);
  const auto size = pooling_per_dimension(call, 1, count);
  if (!size || size->size() != count) return unknown(Missing::kValues);
  const Amount out = images(*x, count) * product(*size);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = images(*x, count) * in_windows(image(*x, count), *size);
  cost.bytes = bytes(*x) + bytes(out, x->dtype);
  if (call.formula.name.starts_with("adaptive_max")) cost.bytes += out * 8;
  return cost;
}

// grad_output, self
Cost adaptive_backward(const Call& call) {
  const std::size_t count = dimensions_of(call.formula.name);
  const Tensor* grad = call.tensor(0);
  const Tensor* x = call.tensor(1);
  if (!has_image(grad, count) || !has_image(x, count)) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = images(*x, count) * in_windows(image(*x, count), image(*grad, count));
  cost.bytes = bytes(*grad) + bytes(elements(*x), x->dtype);
  return cost;
}

// self, output_size
Cost resized(const Call& call) {
  const std::size_t count = dimensions_of(call.formula.name);
  const Tensor* x = call.tensor(0);
  if (x == nullptr || x->rank() != count + 2) return unknown(Missing::kInputs);
  const auto size = sizes_at(call, 1);
  if (!size || size->size() != count) return unknown(Missing::kValues);
  const Amount out = images(*x, count) * product(*size);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = out * call.formula.factor;
  cost.bytes = bytes(*x) + bytes(out, x->dtype);
  return cost;
}

// grad_output, output_size, input_size
Cost resized_backward(const Call& call) {
  const Tensor* grad = call.tensor(0);
  if (grad == nullptr) return unknown(Missing::kInputs);
  const auto size = sizes_at(call, 2);
  if (!size || size->size() != grad->rank()) return unknown(Missing::kValues);
  Cost cost;
  cost.dtype = grad->dtype;
  cost.flops = elements(*grad) * call.formula.factor;
  cost.bytes = bytes(*grad) + bytes(product(*size), grad->dtype);
  return cost;
}

using enum Family;
constexpr std::array kPoolingFormulas = std::to_array<Formula>({
    {"max_pool2d_with_indices", kPooling, pool},
    {"max_pool3d_with_indices", kPooling, pool},
    {"avg_pool2d", kPooling, pool},
    {"avg_pool3d", kPooling, pool},
    {"avg_pool2d_backward", kPooling, average_backward},
    {"avg_pool3d_backward", kPooling, average_backward},
    {"_adaptive_avg_pool2d", kPooling, adaptive},
    {"_adaptive_avg_pool3d", kPooling, adaptive},
    {"adaptive_max_pool2d", kPooling, adaptive},
    {"adaptive_max_pool3d", kPooling, adaptive},
    {"_adaptive_avg_pool2d_backward", kPooling, adaptive_backward},
    {"_adaptive_avg_pool3d_backward", kPooling, adaptive_backward},
    // Each element of the result takes 1, 2, 4, 8 or 16 of the image's and their weights.
    {"upsample_nearest1d", kElementwise, resized, 0},
    {"upsample_nearest2d", kElementwise, resized, 0},
    {"upsample_nearest3d", kElementwise, resized, 0},
    {"_upsample_nearest_exact1d", kElementwise, resized, 0},
    {"_upsample_nearest_exact2d", kElementwise, resized, 0},
    {"_upsample_nearest_exact3d", kElementwise, resized, 0},
    {"upsample_linear1d", kElementwise, resized, 3},
    {"upsample_bilinear2d", kElementwise, resized, 7},
    {"upsample_trilinear3d", kElementwise, resized, 15},
    {"upsample_bicubic2d", kElementwise, resized, 31},
    {"upsample_nearest1d_backward", kElementwise, resized_backward, 1},
    {"upsample_nearest2d_backward", kElementwise, resized_backward, 1},
    {"upsample_nearest3d_backward", kElementwise, resized_backward, 1},
    {"_upsample_nearest_exact1d_backward", kElementwise, resized_backward, 1},
    {"_upsample_nearest_exact2d_backward", kElementwise, resized_backward, 1},
    {"_upsample_nearest_exact3d_backward", kElementwise, resized_backward, 1},
    {"upsample_linear1d_backward", kElementwise, resized_backward, 4},
    {"upsample_bilinear2d_backward", kElementwise, resized_backward, 8},
    {"upsample_trilinear3d_backward", kElementwise, resized_backward, 16},
    {"upsample_bicubic2d_backward", kElementwise, resized_backward, 32},
});

}  // namespace

std::span<const Formula> pooling_formulas() { return kPoolingFormulas; }

}  // namespace stepscope::analysis
