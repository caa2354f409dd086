#include "analysis/operators/tensor_cores.h"

#include <array>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

struct TensorCoresCase {
  std::string_view kernel;
  TensorCores use;
};
constexpr auto kYes = TensorCores::kUsed;
constexpr auto kTensorCoresNo = TensorCores::kNotUsed;
constexpr auto kPlain = TensorCores::kPlain;
constexpr auto kMaybe = TensorCores::kUnknown;

// Names from recordings and from the sources and manuals of the libraries.
constexpr std::array kTensorCoresCases = std::to_array<TensorCoresCase>({
    // Volta to Ada: type of the sum and shape of the instruction.
    {"volta_h884gemm_64x64_ldg8_nn", kYes},
    {"volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", kYes},
    {"turing_fp16_s1688gemm_fp16_128x64_ldg8_f2f_tn", kYes},
    {"turing_int8_i8816cudnn_int8_128x128_ldg16_relu_medium_nt_v1", kYes},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", kYes},
    {"ampere_h16816gemm_128x128_ldg8_stages_64x3_tn", kYes},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>(Params)", kYes},
    {"void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(Params)", kYes},
    {"cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16", kYes},
    {"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8", kYes},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_"
     "execute_kernel__5x_cublas",
     kYes},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(Params)", kPlain},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas",
     kPlain},
    {"volta_sgemm_64x64_nt", kPlain},
    {"ampere_sgemm_32x32_sliced1x4_tn", kPlain},
    {"maxwell_sgemm_fp16_128x32_nn", kPlain},
    {"volta_dgemm_64x64_nn", kPlain},
    {"ampere_gcgemm_64x64_nt", kPlain},
    {"cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", kPlain},
    {"void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>(int)", kPlain},
    {"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)", kPlain},
    {"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, float>(int)", kPlain},
    {"void dgrad2d_grouped_direct_kernel<float, float>(int)", kPlain},
    {"void gemvNSP_kernel<float, float, float, float, 1, 16, 4, 1024>(P)", kPlain},
    // Hopper and Blackwell.
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", kYes},
    {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopB_NTT", kYes},
    {"nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", kYes},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     kYes},
    {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_2x1x1", kYes},
    {"cutlass3x_sm100_tensorop_s128x256x16gemm_bf16_bf16_f32_void_bf16_2sm", kYes},
    {"_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_10"
     "collective13CollectiveMmaINS1_34MainloopSm90TmaGmmaWarpSpecializedILi5E",
     kYes},
    {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u, 2048u>(float*)", kYes},
    {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_sm100f", kYes},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::MmaSimtThing>(P)", kPlain},
    {"void cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel<xmma__5x_cudnn::"
     "implicit_gemm::fprop::Warp_specialized_params_tensor16x8x8>(P)",
     kTensorCoresNo},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(P)", kTensorCoresNo},
    // Attention.
    {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(P)", kYes},
    {"void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128>>(P)", kYes},
    {"void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128>>(P)", kTensorCoresNo},
    {"void flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<128>>(P)", kTensorCoresNo},
    {"void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128>>(P)", kTensorCoresNo},
    {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::Collective>>>",
     kYes},
    {"void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<cute::tuple<128>>>(P)",
     kTensorCoresNo},
    {"kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at_0",
     kYes},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_kernel0_0",
     kYes},
    {"void cudnn::fusion::compute_dot_do_o<true>(void const*)", kTensorCoresNo},
    {"void cudnn::fusion::convert_dq_to_16bits<true>(void const*)", kTensorCoresNo},
    {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", kYes},
    {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::Params)", kYes},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)", kYes},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::Params)", kPlain},
    {"fmha_cutlassB_f16_aligned_64x64_k64_sm50(PyTorchMemEffAttention::Params)", kPlain},
    {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(P)", kTensorCoresNo},
    // AMD.
    {"Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0", kYes},
    {"Custom_Cijk_Alik_Bljk_F8BS_BH_Bias_HAS_SAB_SAV_UserArgs_shortname0_gfx950", kYes},
    {"Custom_Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_shortname0_gfx950", kMaybe},
    {"aiter::fmha_fwd_hd128_bf16_causal_rtna_group", kYes},
    {"_ZN5aiter38fmha_bwd_hd128_bf16_causal_br_a32_psskE", kYes},
    {"_ZN5aiter23fmha_bwd_hd128_odo_bf16E", kTensorCoresNo},
    {"aiter::fmha_bwd_hd128_dq_convert_bf16_rtna", kTensorCoresNo},
    {"void ck_tile::kentry<2, ck_tile::FmhaBwdOGradDotOKernel<ck_tile::Tile>>(P)", kTensorCoresNo},
    {"void ck_tile::kentry<2, ck_tile::FmhaFwdSplitKVCombineKernel<ck_tile::Tile>>(P)",
     kTensorCoresNo},
    // A convolution by Fourier transforms: its products, and what is before and after them.
    {"void pointwise_mult_and_sum_complex<float2, 8, 4>(float2*, float2*, float2*, int)", kPlain},
    {"void DSE::regular_fft_pad<0, 1, 128, 16, 32, 1, float, float, float2>(float2*, float*)",
     kTensorCoresNo},
    {"miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1", kPlain},
    {"naive_conv_ab_nonpacked_fwd_nchw_float_double_float", kPlain},
    {"Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN_LDSB0", kYes},
    {"Cijk_Ailk_Bljk_SB_MT64x64x8_SE_K1_TT4_4_WG16_16_1", kPlain},
    {"Cijk_Ailk_Bljk_SB_MT64x64x8_MI0x0x0x0_SN", kPlain},
    {"Cijk_Ailk_Bljk_BBS_BH_PostGSU8_VW4", kTensorCoresNo},
    {"Cijk_Alik_Bljk_F8BS_BH_PostGSU8_VW4", kTensorCoresNo},
    {"Cijk_SB_GA", kTensorCoresNo},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_gkgs", kYes},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3IN",
     kYes},
    {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePass", kTensorCoresNo},
    {"void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<Tile>>(P)", kYes},
    {"void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16>(P)", kYes},
    {"SubTensorOpWithScalar1d", kTensorCoresNo},
    // No product at all.
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)",
     kTensorCoresNo},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(P)", kTensorCoresNo},
    {"void at_cuda_detail::cub::DeviceScanKernel<P>(int)", kTensorCoresNo},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kTensorCoresNo},
    {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(P)", kTensorCoresNo},
    // Triton: only where the way it was made says it.
    {"triton_poi_fused_add_cos_sin_0", kTensorCoresNo},
    {"triton_red_fused_native_layer_norm_2", kTensorCoresNo},
    {"triton_red_fused_mm_3", kMaybe},
    {"triton_tem_fused_mm_7", kMaybe},
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", kMaybe},
    {"kernel_unified_attention_2d", kMaybe},
    {"attn_fwd", kMaybe},
    {"fused_softmax_matmul", kMaybe},
    {"my_kernel", kMaybe},
    {"", kMaybe},
    // Numbers and words that only look like an instruction.
    {"kernel_884", kMaybe},
    {"items1688", kMaybe},
    {"gemma_forward", kMaybe},
    {"s16816816_thing", kMaybe},
});

TEST(TensorCoreUse, IsToldByTheName) {
  for (const TensorCoresCase& c : kTensorCoresCases) {
    const TensorCoreUse found = tensor_core_use(c.kernel);
    EXPECT_EQ(found.use, c.use) << c.kernel << ": " << found.reason;
    EXPECT_FALSE(found.reason.empty()) << c.kernel;
  }
}

TEST(MatrixOperators, AreKnownByTheirExactNames) {
  for (const std::string_view op :
       {"aten::mm", "aten::addmm", "aten::_scaled_mm", "aten::convolution_backward",
        "aten::_scaled_dot_product_flash_attention", "aten::cudnn_convolution", "AddmmBackward0",
        "autograd::engine::evaluate_function: ConvolutionBackward0", "flash_attn_3::fwd"}) {
    EXPECT_TRUE(names_matrix_operator(op)) << op;
  }
  for (const std::string_view op :
       {"aten::add", "aten::mm_thing", "aten::prelu", "aten::_thnn_fused_lstm_cell", "mm", "",
        "autograd::engine::evaluate_function: AddBackward0", "aten::", "aten::layer_norm"}) {
    EXPECT_FALSE(names_matrix_operator(op)) << op;
  }
}

TEST(MatrixUnits, ComeFromTheDeviceInTheHeader) {
  trace::Header header;
  const auto add = [&](std::string name, std::int64_t major, std::int64_t minor = 0) {
    trace::DeviceProperties device;
    device.id = static_cast<std::int64_t>(header.devices.size());
    device.name = std::move(name);
    device.compute_major = major;
    device.compute_minor = minor;
    header.devices.push_back(device);
  };
  add("Tesla P100-SXM2-16GB", 6);
  add("Tesla V100-SXM2-32GB", 7);
  add("NVIDIA H200", 9);
  add("AMD Instinct MI300X", 9);
  add("AMD Radeon Graphics", 9);
  add("", 9);
  add("NVIDIA GeForce RTX 4090", 8, 9);
  const std::array expected = {
      MatrixUnits::kNone,    MatrixUnits::kNoDouble, MatrixUnits::kAll,      MatrixUnits::kAll,
      MatrixUnits::kUnknown, MatrixUnits::kUnknown,  MatrixUnits::kNoDouble, MatrixUnits::kUnknown};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(matrix_units(header, static_cast<std::int32_t>(i)), expected[i]) << i;
  }
}

TEST(MatrixUnits, MultiplySomeTypesOnly) {
  EXPECT_FALSE(multiplies(MatrixUnits::kNone, "c10::Half,c10::Half"));
  EXPECT_TRUE(multiplies(MatrixUnits::kNoDouble, "c10::Half,c10::Half"));
  EXPECT_TRUE(multiplies(MatrixUnits::kNoDouble, "float,float"));
  EXPECT_TRUE(multiplies(MatrixUnits::kNoDouble, ""));
  EXPECT_FALSE(multiplies(MatrixUnits::kNoDouble, "double,double"));
  EXPECT_TRUE(multiplies(MatrixUnits::kAll, "double,double"));
  EXPECT_TRUE(multiplies(MatrixUnits::kUnknown, "double,double"));
  EXPECT_FALSE(multiplies(MatrixUnits::kAll, R"(["long int","long int"])"));
  EXPECT_FALSE(multiplies(MatrixUnits::kAll, R"(["int","int"])"));
  EXPECT_TRUE(multiplies(MatrixUnits::kAll, R"(["signed char","signed char"])"));
  EXPECT_TRUE(multiplies(MatrixUnits::kAll, R"(["c10::Half","c10::Half","int","Scalar"])"));
  EXPECT_TRUE(multiplies(MatrixUnits::kAll, R"(["c10::complex<float>","c10::complex<float>"])"));
}

}  // namespace
}  // namespace stepscope::analysis
