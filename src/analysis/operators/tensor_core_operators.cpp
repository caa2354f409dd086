// Operators whose work is matrix products. Exact names: a prefix would take aten::mm_backward's
// helpers, and elementwise parts of recurrent cells.
#include <algorithm>
#include <array>

#include "analysis/operators/tensor_cores.h"

namespace stepscope::analysis {
namespace {

// Without "aten::", in order.
constexpr std::array kAten = std::to_array<std::string_view>({
    "_addmm_activation",
    "_convolution",
    "_convolution_double_backward",
    "_convolution_mode",
    "_cslt_sparse_mm",
    "_cudnn_attention_backward",
    "_cudnn_attention_forward",
    "_cudnn_rnn",
    "_cudnn_rnn_backward",
    "_efficient_attention_backward",
    "_efficient_attention_forward",
    "_flash_attention_backward",
    "_flash_attention_forward",
    "_grouped_mm",
    "_int_mm",
    "_mixed_dtypes_linear",
    "_native_multi_head_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_cudnn_attention_backward",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_efficient_attention_backward",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_backward",
    "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_dot_product_fused_attention_overrideable_backward",
    "_scaled_grouped_mm",
    "_scaled_grouped_mm_v2",
    "_scaled_mm",
    "_scaled_mm_v2",
    "_slow_conv2d_forward",
    "_sparse_semi_structured_addmm",
    "_sparse_semi_structured_linear",
    "_sparse_semi_structured_mm",
    "_transformer_encoder_layer_fwd",
    "_weight_int4pack_mm",
    "_weight_int8pack_mm",
    "addbmm",
    "addbmm_",
    "addmm",
    "addmm_",
    "addmv",
    "addmv_",
    "baddbmm",
    "baddbmm_",
    "bilinear",
    "bmm",
    "chain_matmul",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_tbc_backward",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "convolution_backward",
    "convolution_backward_overrideable",
    "convolution_overrideable",
    "cudnn_convolution",
    "cudnn_convolution_add_relu",
    "cudnn_convolution_backward",
    "cudnn_convolution_backward_input",
    "cudnn_convolution_backward_weight",
    "cudnn_convolution_relu",
    "cudnn_convolution_transpose",
    "cudnn_convolution_transpose_backward",
    "cudnn_convolution_transpose_backward_input",
    "cudnn_convolution_transpose_backward_weight",
    "einsum",
    "gru",
    "gru_cell",
    "linalg_matmul",
    "linalg_multi_dot",
    "linear",
    "linear_backward",
    "lstm",
    "lstm_cell",
    "matmul",
    "matmul_backward",
    "miopen_convolution",
    "miopen_convolution_add_relu",
    "miopen_convolution_relu",
    "miopen_convolution_transpose",
    "miopen_rnn",
    "miopen_rnn_backward",
    "mkldnn_convolution",
    "mkldnn_linear",
    "mm",
    "mv",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "scaled_dot_product_attention",
    "slow_conv3d_forward",
    "slow_conv_dilated2d",
    "slow_conv_dilated3d",
    "slow_conv_transpose2d",
    "slow_conv_transpose3d",
    "thnn_conv2d",
});

// Nodes of autograd without the number after them, in order.
constexpr std::array kNodes = std::to_array<std::string_view>({
    "AddbmmBackward",
    "AddmmBackward",
    "AddmvBackward",
    "BaddbmmBackward",
    "BmmBackward",
    "ConvTbcBackward",
    "ConvolutionBackward",
    "ConvolutionOverrideableBackward",
    "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward",
    "CudnnRnnBackward",
    "EfficientAttentionBackward",
    "FlashAttentionBackward",
    "LinearBackward",
    "MatmulBackward",
    "MiopenConvolutionBackward",
    "MiopenRnnBackward",
    "MmBackward",
    "MvBackward",
    "ScaledDotProductCudnnAttentionBackward",
    "ScaledDotProductEfficientAttentionBackward",
    "ScaledDotProductFlashAttentionBackward",
    "ScaledDotProductFusedAttentionOverrideableBackward",
    "ThnnConvBackward",
});

// Other libraries' operators, in order.
constexpr std::array kOthers = std::to_array<std::string_view>({
    "flash_attn::_flash_attn_backward",
    "flash_attn::_flash_attn_forward",
    "flash_attn::_flash_attn_varlen_backward",
    "flash_attn::_flash_attn_varlen_forward",
    "flash_attn_3::bwd",
    "flash_attn_3::fwd",
    "xformers::efficient_attention_backward_cutlass",
    "xformers::efficient_attention_forward_cutlass",
    "xformers_flash::flash_bwd",
    "xformers_flash::flash_fwd",
});

static_assert(std::ranges::is_sorted(kAten));
static_assert(std::ranges::is_sorted(kNodes));
static_assert(std::ranges::is_sorted(kOthers));

}  // namespace

bool names_matrix_operator(std::string_view op) {
  constexpr std::string_view kAutograd = "autograd::engine::evaluate_function: ";
  if (op.starts_with("aten::")) return std::ranges::binary_search(kAten, op.substr(6));
  if (std::ranges::binary_search(kOthers, op)) return true;
  if (op.starts_with(kAutograd)) op.remove_prefix(kAutograd.size());
  while (!op.empty() && op.back() >= '0' && op.back() <= '9') op.remove_suffix(1);
  return std::ranges::binary_search(kNodes, op);
}

}  // namespace stepscope::analysis
