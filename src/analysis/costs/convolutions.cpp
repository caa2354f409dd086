// Convolutions: every element of the output (of the input, when transposed) meets every weight of
// its group once; stride, padding and dilation only decide how large the output is.
#include <array>
#include <charconv>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;
using ConvolutionsPlace = std::size_t;
constexpr ConvolutionsPlace kConvolutionsNowhere = 99;

// Where an operator has its arguments.
struct ConvolutionsPlaces {
  ConvolutionsPlace stride, padding, dilation;
  ConvolutionsPlace transposed = kConvolutionsNowhere, output_padding = kConvolutionsNowhere;
  bool always_transposed = false;
  ConvolutionsPlace groups = kConvolutionsNowhere;  // where the output's channels depend on it
};

ConvolutionsPlaces convolutions_places_of(std::string_view name) {
  if (name == "convolution" || name == "_convolution") return {3, 4, 5, 6, 7, false, 8};
  if (name == "conv1d" || name == "conv2d" || name == "conv3d") return {3, 4, 5};
  if (name.starts_with("conv_transpose")) return {3, 4, 7, kConvolutionsNowhere, 5, true, 6};
  if (name == "cudnn_convolution") return {3, 2, 4};
  if (name == "cudnn_convolution_transpose") return {4, 2, 5, kConvolutionsNowhere, 3, true, 6};
  if (name == "miopen_convolution" || name == "mkldnn_convolution" ||
      name == "miopen_depthwise_convolution") {
    return {4, 3, 5};
  }
  if (name == "miopen_convolution_transpose") return {5, 3, 6, kConvolutionsNowhere, 4, true, 7};
  if (name == "cudnn_convolution_relu" || name == "miopen_convolution_relu") return {3, 4, 5};
  if (name == "cudnn_convolution_add_relu" || name == "miopen_convolution_add_relu") {
    return {5, 6, 7};
  }
  if (name == "_slow_conv2d_forward" || name == "slow_conv3d_forward")
    return {4, 5, kConvolutionsNowhere};
  if (name.starts_with("slow_conv_transpose")) return {4, 5, 7, kConvolutionsNowhere, 6, true};
  return {4, 5, 6};  // depthwise and dilated ones: kernel size and bias stand before
}

ConvolutionsPlace bias_of(std::string_view name) {
  if (name == "cudnn_convolution" || name == "cudnn_convolution_transpose")
    return kConvolutionsNowhere;
  if (name.ends_with("_add_relu")) return 4;
  // Of the depthwise and the slow ones the kernel's size stands before it.
  return name.find("slow_conv") != name.npos || name.find("conv_depthwise") != name.npos ? 3 : 2;
}

// A list of one number per dimension; one number stands for all of them.
std::optional<Dims> convolutions_per_dimension(std::string_view value, std::size_t count) {
  std::optional<Dims> numbers = whole_numbers(value);
  if (!numbers) {
    const auto one = whole_number(value);
    if (!one) return std::nullopt;
    numbers = Dims{*one};
  }
  if (numbers->size() == 1) numbers->resize(count, numbers->front());
  if (numbers->size() != count) return std::nullopt;
  return numbers;
}

// Sizes of the output; nothing when a value is missing or makes no sense.
std::optional<Dims> output_size(const Call& call, const ConvolutionsPlaces& places, bool transposed,
                                std::span<const std::int64_t> in,
                                std::span<const std::int64_t> kernel) {
  const std::size_t count = in.size();
  const auto stride = convolutions_per_dimension(call.value(places.stride), count);
  const auto padding = convolutions_per_dimension(call.value(places.padding), count);
  const auto dilation = places.dilation == kConvolutionsNowhere
                            ? Dims(count, 1)
                            : convolutions_per_dimension(call.value(places.dilation), count);
  const auto extra = transposed
                         ? convolutions_per_dimension(call.value(places.output_padding), count)
                         : std::optional(Dims(count, 0));
  if (!stride || !padding || !dilation || !extra) return std::nullopt;
  Dims out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Amount reach = Amount((*dilation)[i]) * (kernel[i] - 1);
    const Amount margin = Amount((*padding)[i]) * 2;
    if (!reach.known() || !margin.known() || (*stride)[i] <= 0) return std::nullopt;
    Amount size = 0;
    if (transposed) {
      size = Amount(in[i] - 1) * (*stride)[i] + *reach.value() + (*extra)[i] + 1 +
             Amount(*margin.value()) * -1;
    } else {
      const Amount room = Amount(in[i]) + margin + reach * -1 + -1;
      if (!room.known() || *room.value() < 0) return std::nullopt;
      size = *room.value() / (*stride)[i] + 1;
    }
    if (!size.known() || *size.value() < 0) return std::nullopt;
    out[i] = *size.value();
  }
  return out;
}

Amount per_weight(Dtype dtype) { return is_complex(dtype) ? 8 : 2; }

Cost forward(const Call& call) {
  const Tensor* x = call.tensor(0);
  const Tensor* w = call.tensor(1);
  if (x == nullptr || w == nullptr || w->rank() < 3) return unknown(Missing::kInputs);
  const bool batched = x->rank() == w->rank();
  if ((!batched && x->rank() + 1 != w->rank()) || x->dtype != w->dtype) {
    return unknown(Missing::kInputs);
  }
  const ConvolutionsPlaces places = convolutions_places_of(call.formula.name);
  std::optional<bool> transposed = places.always_transposed;
  if (places.transposed != kConvolutionsNowhere) transposed = truth(call.value(places.transposed));
  const auto in = std::span(x->dims).subspan(batched ? 2 : 1);
  const auto kernel = std::span(w->dims).subspan(2);
  if (!transposed) return unknown(Missing::kValues);
  const auto out = output_size(call, places, *transposed, in, kernel);
  if (!out) return unknown(Missing::kValues);
  const Amount batch = batched ? x->dims[0] : 1;
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops =
      per_weight(x->dtype) * batch * (*transposed ? product(in) : product(*out)) * elements(*w);
  cost.bytes = bytes(*x) + bytes(*w);
  if (const Tensor* bias = call.tensor(bias_of(call.formula.name))) cost.bytes += bytes(*bias);
  if (*transposed) {
    // The number of groups is not needed for FLOPs, but for the channels of the output.
    const bool has_one = call.formula.name.starts_with("slow_conv_transpose");
    const auto count = has_one ? 1 : whole_number(call.value(places.groups));
    const Amount channels = count ? Amount(w->dims[1]) * *count : Amount::unknown();
    cost.bytes += bytes(batch * channels * product(*out), x->dtype);
    if (!count) cost.missing = Missing::kValues;
  } else {
    cost.bytes += bytes(batch * w->dims[0] * product(*out), x->dtype);
  }
  return cost;
}

// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask
Cost backward(const Call& call) {
  const Tensor* grad = call.tensor(0);
  const Tensor* x = call.tensor(1);
  const Tensor* w = call.tensor(2);
  if (grad == nullptr || x == nullptr || w == nullptr || w->rank() < 3 || x->rank() != w->rank() ||
      grad->rank() != w->rank() || x->dtype != w->dtype) {
    return unknown(Missing::kInputs);
  }
  const auto transposed = truth(call.value(7));
  const auto mask = truths(call.value(10));
  if (!transposed || !mask || mask->size() != 3) return unknown(Missing::kValues);
  const Tensor& positions = *transposed ? *x : *grad;
  const Amount once = per_weight(x->dtype) * positions.dims[0] *
                      product(std::span(positions.dims).subspan(2)) * elements(*w);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = once * ((*mask)[0] ? 1 : 0) + once * ((*mask)[1] ? 1 : 0);
  // Both gradients read that of the output: once, if what is near can be used again.
  cost.bytes = bytes(*grad);
  if ((*mask)[0]) cost.bytes += bytes(*w) + bytes(elements(*x), x->dtype);
  if ((*mask)[1]) cost.bytes += bytes(*x) + bytes(elements(*w), w->dtype);
  return cost;
}

// Older torch: sizes of the gradient first, then grad_output, then weight or input.
Cost backward_part(const Call& call) {
  const bool of_input = call.formula.name.ends_with("_input");
  const Tensor* grad = call.tensor(1);
  const Tensor* other = call.tensor(2);
  const auto sizes = whole_numbers(call.value(0));
  if (grad == nullptr || other == nullptr || grad->rank() < 3 || grad->rank() != other->rank()) {
    return unknown(Missing::kInputs);
  }
  if (!of_input && !sizes) return unknown(Missing::kValues);
  const Amount weights = of_input ? elements(*other) : product(*sizes);
  Cost cost;
  cost.dtype = grad->dtype;
  cost.flops =
      per_weight(grad->dtype) * grad->dims[0] * product(std::span(grad->dims).subspan(2)) * weights;
  cost.bytes = bytes(*grad) + bytes(*other) +
               (sizes ? bytes(product(*sizes), grad->dtype) : Amount::unknown());
  if (!sizes) cost.missing = Missing::kValues;
  return cost;
}

constexpr auto kConvolutionsFamily = Family::kConvolution;
constexpr std::array kConvolutionsFormulas = std::to_array<Formula>({
    {"convolution", kConvolutionsFamily, forward},
    {"_convolution", kConvolutionsFamily, forward},
    {"conv1d", kConvolutionsFamily, forward},
    {"conv2d", kConvolutionsFamily, forward},
    {"conv3d", kConvolutionsFamily, forward},
    {"conv_transpose1d", kConvolutionsFamily, forward},
    {"conv_transpose2d", kConvolutionsFamily, forward},
    {"conv_transpose3d", kConvolutionsFamily, forward},
    {"cudnn_convolution", kConvolutionsFamily, forward},
    {"cudnn_convolution_transpose", kConvolutionsFamily, forward},
    {"cudnn_convolution_relu", kConvolutionsFamily, forward},
    {"cudnn_convolution_add_relu", kConvolutionsFamily, forward},
    {"miopen_convolution", kConvolutionsFamily, forward},
    {"miopen_depthwise_convolution", kConvolutionsFamily, forward},
    {"miopen_convolution_transpose", kConvolutionsFamily, forward},
    {"miopen_convolution_relu", kConvolutionsFamily, forward},
    {"miopen_convolution_add_relu", kConvolutionsFamily, forward},
    {"mkldnn_convolution", kConvolutionsFamily, forward},
    {"_slow_conv2d_forward", kConvolutionsFamily, forward},
    {"slow_conv3d_forward", kConvolutionsFamily, forward},
    {"slow_conv_dilated2d", kConvolutionsFamily, forward},
    {"slow_conv_dilated3d", kConvolutionsFamily, forward},
    {"slow_conv_transpose2d", kConvolutionsFamily, forward},
    {"slow_conv_transpose3d", kConvolutionsFamily, forward},
    {"_conv_depthwise2d", kConvolutionsFamily, forward},
    {"conv_depthwise3d", kConvolutionsFamily, forward},
    {"convolution_backward", kConvolutionsFamily, backward},
    {"cudnn_convolution_backward_input", kConvolutionsFamily, backward_part},
    {"cudnn_convolution_backward_weight", kConvolutionsFamily, backward_part},
    {"miopen_convolution_backward_input", kConvolutionsFamily, backward_part},
    {"miopen_convolution_backward_weight", kConvolutionsFamily, backward_part},
});

}  // namespace

std::span<const Formula> convolution_formulas() { return kConvolutionsFormulas; }

}  // namespace stepscope::analysis
