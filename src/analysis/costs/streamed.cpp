// Operators that pass over their tensors once: normalisation, softmax, losses, dropout, fills. A
// row says how many FLOPs an element takes, which inputs are read, and which inputs' sizes and
// types the outputs have. Statistics per row or channel are left out: they are small.
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

std::size_t place(char digit) { return static_cast<std::size_t>(digit - '0'); }

// reads: the first one counts the elements; an input that is not given is not read. writes
// likewise.
Cost streamed(const Call& call) {
  const Formula& row = call.formula;
  const Tensor* main = call.tensor(place((row.reads.empty() ? row.writes : row.reads).front()));
  if (main == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = main->dtype;
  cost.flops = elements(*main) * row.factor;
  cost.bytes = 0;
  for (const char digit : row.reads) {
    const Tensor* tensor = call.tensor(place(digit));
    if (tensor != nullptr) {
      cost.bytes += bytes(*tensor);
    } else if (!call.none(place(digit))) {
      return unknown(Missing::kInputs);
    }
  }
  for (const char digit : row.writes) {
    const Tensor* tensor = call.tensor(place(digit));
    if (tensor == nullptr) return unknown(Missing::kInputs);
    // What is written is a new tensor, unless in place: a repeated dimension is written in full.
    cost.bytes += bytes(elements(*tensor), tensor->dtype);
  }
  return cost;
}

// self, dim, half_to_float
Cost softmax(const Call& call) {
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  const auto to_float = truth(call.value(2));
  const bool half = x->dtype == Dtype::kHalf || x->dtype == Dtype::kBfloat16;
  const Dtype out = !half       ? x->dtype
                    : !to_float ? Dtype::kUnknown
                    : *to_float ? Dtype::kFloat
                                : x->dtype;
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*x) * call.formula.factor;
  cost.bytes = bytes(*x) + bytes(elements(*x), out);
  if (half && !to_float) cost.missing = Missing::kValues;
  return cost;
}

// self (n × classes), target: one element of a row is read
Cost nll_loss_forward(const Call& call) {
  const Tensor* x = call.tensor(0);
  const Tensor* target = call.tensor(1);
  if (x == nullptr || target == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*target) * 2;
  cost.bytes = bytes(*target) + bytes(elements(*target), x->dtype);
  return cost;
}

// grad_output, self (n × classes), target: one element of a row is written; an operator inside
// zeroes the others before.
Cost nll_loss_backward(const Call& call) {
  const Tensor* x = call.tensor(1);
  const Tensor* target = call.tensor(2);
  if (x == nullptr || target == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = 0;
  cost.bytes = bytes(*target) + bytes(elements(*target), x->dtype);
  return cost;
}

// Numbers in a row; how many is not recorded.
Cost arange(const Call& /*call*/) {
  Cost cost;
  cost.flops = 0;
  cost.missing = Missing::kValues;
  return cost;
}

// input, p, train: the mask is written as one byte an element
Cost dropout(const Call& call) {
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*x) * 2;
  cost.bytes = bytes(*x) + bytes(elements(*x), x->dtype) + elements(*x);
  return cost;
}

// self, source: moved as it is or into another type
Cost copy(const Call& call) {
  const Tensor* to = call.tensor(0);
  const Tensor* from = call.tensor(1);
  if (to == nullptr || from == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = to->dtype;
  cost.flops = 0;
  cost.bytes = bytes(*from) + bytes(*to);
  return cost;
}

using enum Family;
constexpr std::array kStreamedFormulas = std::to_array<Formula>({
    {"native_layer_norm", kNormalisation, streamed, 7, "023", "0"},
    {"native_layer_norm_backward", kNormalisation, streamed, 12, "01345", "1"},
    {"native_batch_norm", kNormalisation, streamed, 7, "01234", "0"},
    {"_native_batch_norm_legit", kNormalisation, streamed, 7, "01234", "0"},
    {"_batch_norm_with_update", kNormalisation, streamed, 7, "01234", "0"},
    {"cudnn_batch_norm", kNormalisation, streamed, 7, "01234", "0"},
    {"miopen_batch_norm", kNormalisation, streamed, 7, "01234", "0"},
    {"native_batch_norm_backward", kNormalisation, streamed, 12, "0123456", "1"},
    {"cudnn_batch_norm_backward", kNormalisation, streamed, 12, "0123456", "0"},
    {"miopen_batch_norm_backward", kNormalisation, streamed, 12, "0123456", "0"},
    {"native_group_norm", kNormalisation, streamed, 7, "012", "0"},
    {"native_group_norm_backward", kNormalisation, streamed, 12, "01234", "1"},
    {"_native_batch_norm_legit_no_training", kNormalisation, streamed, 7, "01234", "0"},
    {"batch_norm_backward", kNormalisation, streamed, 12, "0123456", "1"},
    // Of batches spread over ranks: sums and what is made of them are operators of their own.
    {"batch_norm_stats", kNormalisation, streamed, 4, "0"},
    {"batch_norm_elemt", kNormalisation, streamed, 3, "01234", "0"},
    {"batch_norm_backward_reduce", kNormalisation, streamed, 5, "01234"},
    {"batch_norm_backward_elemt", kNormalisation, streamed, 7, "0123456", "0"},
    {"_weight_norm_interface", kNormalisation, streamed, 3, "01", "01"},
    {"_weight_norm_interface_backward", kNormalisation, streamed, 5, "0123", "12"},
    {"_fused_rms_norm", kNormalisation, streamed, 4, "02", "0"},
    {"_fused_rms_norm_backward", kNormalisation, streamed, 9, "0134", "1"},
    {"_C::rms_norm", kNormalisation, streamed, 4, "12", "0"},
    {"_C::fused_add_rms_norm", kNormalisation, streamed, 5, "012", "01"},
    {"_softmax", kSoftmax, softmax, 5},
    {"_log_softmax", kSoftmax, softmax, 5},
    {"_softmax_backward_data", kSoftmax, streamed, 4, "01", "0"},
    {"_log_softmax_backward_data", kSoftmax, streamed, 4, "01", "0"},
    {"nll_loss_forward", kSoftmax, nll_loss_forward},
    {"nll_loss_backward", kSoftmax, nll_loss_backward},
    {"nll_loss2d_forward", kSoftmax, nll_loss_forward},
    {"nll_loss2d_backward", kSoftmax, nll_loss_backward},
    {"binary_cross_entropy", kElementwise, streamed, 6, "012", "0"},
    {"binary_cross_entropy_backward", kElementwise, streamed, 6, "1023", "1"},
    {"glu_backward", kElementwise, streamed, 9, "01", "1"},
    {"_prelu_kernel_backward", kElementwise, streamed, 3, "012", "11"},
    {"_amp_update_scale", kElementwise, streamed, 1, "012", "01"},
    {"native_dropout", kElementwise, dropout},
    {"native_dropout_backward", kElementwise, streamed, 2, "01", "0"},
    {"max_pool2d_with_indices_backward", kPooling, streamed, 1, "07", "1"},
    {"max_pool3d_with_indices_backward", kPooling, streamed, 1, "07", "1"},
    {"adaptive_max_pool2d_backward", kPooling, streamed, 1, "02", "1"},
    {"adaptive_max_pool3d_backward", kPooling, streamed, 1, "02", "1"},
    {"copy", kCopy, copy},
    {"flip", kCopy, streamed, 0, "0", "0"},
    {"roll", kCopy, streamed, 0, "0", "0"},
    {"tril", kCopy, streamed, 0, "0", "0"},
    {"triu", kCopy, streamed, 0, "0", "0"},
    {"fill", kFill, streamed, 0, "", "0"},
    {"zero", kFill, streamed, 0, "", "0"},
    {"arange", kFill, arange},
    {"uniform", kFill, streamed, 0, "", "0"},
    {"normal", kFill, streamed, 0, "", "0"},
    {"random", kFill, streamed, 0, "", "0"},
    {"bernoulli", kFill, streamed, 0, "", "0"},
    {"exponential", kFill, streamed, 0, "", "0"},
});

}  // namespace

std::span<const Formula> streamed_formulas() { return kStreamedFormulas; }

}  // namespace stepscope::analysis
