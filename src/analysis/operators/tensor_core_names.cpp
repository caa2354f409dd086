// What kernels' names say about matrix units. Rules are asked in order and the first that fits
// decides: helpers of matrix products before the products themselves, because a helper's name often
// quotes the product it helps.
#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/device/classes.h"
#include "analysis/operators/tensor_cores.h"
#include "base/ascii.h"

namespace stepscope::analysis {
namespace {

bool contains_tensor_core_names(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return contains_tensor_core_names(text, part); });
}

// A word that no letter stands before or after: "hmma" in "x_hmma8", not in "Hemma".
bool has_tensor_core_names_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !base::is_letter(text[at - 1]);
    const bool ends = end == text.size() || !base::is_letter(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

// "s1688" in "ampere_fp16_s1688gemm_…": the type of the sum, then the shape of the instruction.
bool has_mma_shape(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kShapes = {"884",   "1684",   "1688",  "16816",
                                                               "8816",  "16832",  "8832",  "16864",
                                                               "88128", "168128", "168256"};
  for (const std::string_view shape : kShapes) {
    for (std::size_t at = name.find(shape); at != std::string_view::npos;
         at = name.find(shape, at + 1)) {
      const std::size_t end = at + shape.size();
      if (at == 0 || (end < name.size() && base::is_digit(name[end]))) continue;
      if (!contains_tensor_core_names("hsdicz", name.substr(at - 1, 1))) continue;
      if (at >= 2 && (base::is_letter(name[at - 2]) || base::is_digit(name[at - 2]))) continue;
      return true;
    }
  }
  return false;
}

// "_MI16x16x1" in a name of AMD's Tensile: the matrix instruction; 0 or none means plain FMA.
bool has_tensile_instruction(std::string_view name) {
  const std::size_t at = name.find("_MI");
  return at != std::string_view::npos && at + 3 < name.size() && name[at + 3] >= '1' &&
         name[at + 3] <= '9';
}

// "F8BS" in "Custom_Cijk_Alik_Bljk_F8BS_…", after the letters of the dimensions: the types.
bool has_tensile_fp8(std::string_view name) {
  std::size_t at = name.find("Cijk_");
  for (int part = 0; part < 3 && at != std::string_view::npos; ++part) {
    at = name.find('_', at);
    if (at != std::string_view::npos) ++at;
  }
  if (at == std::string_view::npos) return false;
  const std::string_view types = name.substr(at, 2);
  return types == "F8" || types == "B8";
}

// Before, between and after matrix products.
constexpr std::array<std::string_view, 24> kHelpers = {"splitKreduce",    "ReduceSplitK",
                                                       "reduce_split_k",  "init_device_workspace",
                                                       "OffsetsKernel",   "dot_do_o",
                                                       "DotDO",           "convert_dq",
                                                       "ConvertDQ",       "PostprocessConvert",
                                                       "_combine_kernel", "FwdCombine",
                                                       "BwdPreprocess",   "BwdPostprocess",
                                                       "FwdPostprocess",  "reshape_and_cache",
                                                       "postprocess",     "preprocess",
                                                       "OGradDotO",       "SplitKVCombine",
                                                       "ConvertQGrad",    "_odo_",
                                                       "_dq_convert",     "_dq_shuffle"};

constexpr std::array<std::string_view, 7> kInstructions = {"hmma",  "imma",   "dmma",   "qmma",
                                                           "wgmma", "utcmma", "tcgen05"};
constexpr std::array<std::string_view, 8> kCutlass = {"_tensorop_",  "OpClassTensorOp",
                                                      "MmaTensorOp", "TensorOpMultiplicand",
                                                      "TmaGmma",     "GMMA",
                                                      "UMMA",        "Umma"};
constexpr std::array<std::string_view, 4> kAmd = {"mfma", "xdlops", "_xdl_", "_gtcx"};
// Attention written for these units alone.
constexpr std::array<std::string_view, 18> kAttention = {"flash_fwd_kernel",
                                                         "flash_fwd_splitkv_kernel",
                                                         "flash_bwd_dq_dk_dv",
                                                         "FlashAttnFwdSm",
                                                         "FlashAttnBwdSm",
                                                         "FlashAttentionForwardSm",
                                                         "FlashAttentionBackwardSm",
                                                         "flash_fwd_sm",
                                                         "flash_bwd_sm",
                                                         "native_sdpa_sm",
                                                         "fmhaSm",
                                                         "fmha_v2_flash_attention",
                                                         "FmhaFwdKernel",
                                                         "FmhaBwdDQDKDV",
                                                         "FmhaFwdSplitKVKernel",
                                                         "fmha_fwd_hd",
                                                         "fmha_bwd_hd",
                                                         "flash_attn_mma"};
constexpr std::array<std::string_view, 4> kGemms = {"deep_gemm::", "tinygemm_", "marlin::Marlin",
                                                    "Marlin<"};
constexpr std::array<std::string_view, 6> kTensorCoreNamesProducts = {"gemm",  "cudnn", "fprop",
                                                                      "dgrad", "wgrad", "conv"};

// Libraries and kernels that only have plain arithmetic.
constexpr std::array<std::string_view, 9> kPlainLibraries = {
    "at::native::",        "at::cuda::", "cub::", "thrust::",     "c10::cuda",
    "fbgemm_gpu::permute", "moe::dev::", "cunn_", "ScanTileState"};
constexpr std::array<std::string_view, 23> kPlainProducts = {"gemv",
                                                             "gemmk1_",
                                                             "gemmSN",
                                                             "dgrad_engine",
                                                             "wgrad_alg",
                                                             "convolve_sgemm",
                                                             "winograd",
                                                             "fft2d_",
                                                             "mult_and_sum_complex",
                                                             "im2col",
                                                             "sgemm",
                                                             "scudnn",
                                                             "dgemm",
                                                             "hgemm",
                                                             "cgemm",
                                                             "zgemm",
                                                             "_dl_",
                                                             "gemm_dp4a",
                                                             "paged_attention_v",
                                                             "grouped_direct_kernel",
                                                             "2d_c1_k1_",
                                                             "naive_conv_",
                                                             "miopenSp3AsmConv_v"};
constexpr std::array<std::string_view, 41> kPlain = {"softmax",
                                                     "layer_norm",
                                                     "LayerNorm",
                                                     "layernorm",
                                                     "rms_norm",
                                                     "RMSNorm",
                                                     "rmsnorm",
                                                     "Rmsnorm",
                                                     "Layernorm",
                                                     "elementwise",
                                                     "reduce_kernel",
                                                     "multi_tensor_apply",
                                                     "rotary_embedding",
                                                     "split_embedding",
                                                     "embedding_bag",
                                                     "bounds_check",
                                                     "linearize_index",
                                                     "permute_",
                                                     "transpose",
                                                     "Transpose",
                                                     "ToNhwcKernel",
                                                     "ToNchwKernel",
                                                     "bn_bw_",
                                                     "bn_fw_",
                                                     "BatchNorm",
                                                     "scalePacked",
                                                     "scal_kernel",
                                                     "reduce_wgrad",
                                                     "epilogue::impl::globalKernel",
                                                     "SubTensorOp",
                                                     "OpTensor",
                                                     "quantize",
                                                     "_quant_",
                                                     "FP8rowwise",
                                                     "FP8_qparam",
                                                     "offsets_range",
                                                     "spin_kernel",
                                                     "compute_cuda_kernel",
                                                     "topk",
                                                     "regular_fft_",
                                                     "_memset"};

bool is_inductor(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kStarts = {"triton_poi_", "triton_red_",
                                                              "triton_per_", "triton_for_"};
  return std::ranges::any_of(kStarts, [&](std::string_view s) { return name.starts_with(s); });
}

// Words of products and attention in names that nothing else explains: those stay unknown.
bool looks_like_product(std::string_view name) {
  return contains_tensor_core_names(name, "matmul") ||
         contains_tensor_core_names(name, "attention") ||
         contains_tensor_core_names(name, "attn") || has_tensor_core_names_word(name, "mm") ||
         (contains_tensor_core_names(name, "gemm") && !contains_tensor_core_names(name, "fbgemm"));
}

TensorCoreUse used(std::string_view reason) { return {TensorCores::kUsed, reason}; }
TensorCoreUse not_used(std::string_view reason) { return {TensorCores::kNotUsed, reason}; }
TensorCoreUse plain(std::string_view reason) { return {TensorCores::kPlain, reason}; }
TensorCoreUse unknown(std::string_view reason) { return {TensorCores::kUnknown, reason}; }

// PyTorch's memory-efficient attention: 32 bits take part from Ampere on, 16 bits from Volta on.
TensorCoreUse memory_efficient(std::string_view name) {
  if (contains_tensor_core_names(name, "_sm50") || contains_tensor_core_names(name, "_sm60")) {
    return plain("attention built for a GPU without tensor cores");
  }
  if (contains_tensor_core_names(name, "_f32_") && !contains_tensor_core_names(name, "_sm80")) {
    return plain("attention in 32 bits built for a GPU older than Ampere");
  }
  return used("attention with CUTLASS' tensor operations");
}

TensorCoreUse triton(std::string_view name) {
  // A reduction may hold a product when Inductor is set to write products itself.
  if (name.starts_with("triton_poi_") || name.starts_with("triton_for_")) {
    return not_used("written by Inductor for single elements");
  }
  if (has_tensor_core_names_word(name, "mm") || has_tensor_core_names_word(name, "bmm") ||
      has_tensor_core_names_word(name, "addmm") || has_tensor_core_names_word(name, "baddbmm") ||
      contains_tensor_core_names(name, "convolution")) {
    return unknown("written by Inductor, with a matrix product in its name");
  }
  return not_used("a reduction written by Inductor");
}

}  // namespace

TensorCoreUse tensor_core_use(std::string_view name) {
  if (names_communication_kernel(name)) return not_used("communication");
  if (contains_any(name, kHelpers)) return not_used("before or after a matrix product");
  if (is_inductor(name)) return triton(name);
  if (name.starts_with("triton_")) return unknown("written with Triton");

  // AMD.
  if (name.starts_with("Cijk_") || name.starts_with("Custom_Cijk_")) {
    // What scales or sums up the result has no matrices A and B, or says so.
    if (!contains_tensor_core_names(name, "Cijk_A") ||
        contains_tensor_core_names(name, "_PostGSU")) {
      return not_used("before or after a matrix product");
    }
    if (has_tensile_instruction(name)) return used("a matrix instruction in Tensile's name");
    if (has_tensile_fp8(name))
      return used("a product of 8-bit floats, which only matrix units have");
    if (contains_tensor_core_names(name, "_MT"))
      return plain("no matrix instruction in Tensile's name");
    return unknown("Tensile's name says neither tile nor instruction");
  }
  if (contains_any(name, kAmd)) return used("AMD's matrix instructions in its name");

  // Plain arithmetic in the name of a product.
  if (has_tensor_core_names_word(name, "ffma") || has_tensor_core_names_word(name, "dfma") ||
      contains_tensor_core_names(name, "_simt_") || contains_tensor_core_names(name, "MmaSimt") ||
      contains_tensor_core_names(name, "OpClassSimt")) {
    return plain("plain multiply-add in its name");
  }

  if (name.starts_with("nvjet_")) return used("cuBLAS' products for Hopper and later");
  if (contains_tensor_core_names(name, "fmha_cutlass")) return memory_efficient(name);
  if (contains_any(name, kAttention)) return used("attention written for tensor cores");
  if (contains_any(name, kGemms)) return used("a product written for tensor cores");
  if (contains_any(name, kCutlass)) return used("CUTLASS' tensor operations in its name");
  if (has_mma_shape(name)) return used("an instruction's shape in its name");
  for (const std::string_view word : kInstructions) {
    if (has_tensor_core_names_word(name, word)) return used("an instruction's name in its name");
  }
  if (contains_tensor_core_names(name, "xmma_")) {
    const std::size_t shape = name.find("_tensor");
    const bool has_shape = shape != std::string_view::npos && shape + 7 < name.size() &&
                           base::is_digit(name[shape + 7]);
    if (has_shape || contains_tensor_core_names(name, "warpgroupsize"))
      return used("an instruction's shape in its name");
  }
  const bool product = contains_any(name, kTensorCoreNamesProducts);
  if (product && contains_tensor_core_names(name, "tf32"))
    return used("a product in TF32, which only tensor cores have");
  if ((name.starts_with("bmm_") || name.starts_with("gemm_")) &&
      contains_tensor_core_names(name, "_sm10")) {
    return used("a product written for Blackwell's tensor cores");
  }
  if (contains_tensor_core_names(name, "wmma")) return used("matrix instructions in its name");

  if (contains_any(name, kPlainProducts)) return plain("a product with plain multiply-add");
  if (contains_any(name, kPlainLibraries)) return not_used("of a library without matrix products");
  if (!looks_like_product(name) && contains_any(name, kPlain)) {
    return not_used("no matrix product");
  }
  return unknown("the name does not say it");
}

}  // namespace stepscope::analysis
