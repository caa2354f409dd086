#include <string_view>

#include <gtest/gtest.h>

#include "analysis/arithmetic/share_out.h"

namespace stepscope::analysis {
namespace {

struct NumberWidthCase {
  std::string_view kernel;
  NumberWidth width;
};

TEST(NumberWidth, IsWhatTheNameSays) {
  constexpr auto kNarrow = NumberWidth::kNarrow;
  constexpr auto kWide = NumberWidth::kWide;
  constexpr auto kUnsaid = NumberWidth::kUnsaid;
  for (const auto& [kernel, width] : {
           NumberWidthCase{"nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", kNarrow},
           NumberWidthCase{"nvjet_sm90_tst_128x128_64x6_1x2_h_bz_NTT", kNarrow},
           NumberWidthCase{"nvjet_sss_128x128_16x4_h_bz_TNN", kWide},
           NumberWidthCase{"nvjet_sm90_", kUnsaid},
           NumberWidthCase{"nvjet_sm90", kUnsaid},
           NumberWidthCase{"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", kNarrow},
           NumberWidthCase{"ampere_sgemm_32x128_nn", kWide},
           NumberWidthCase{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x8", kWide},
           NumberWidthCase{"cudnn_infer_ampere_scudnn_128x64_relu", kWide},
           NumberWidthCase{"Cijk_Ailk_Bjlk_BBS_BH_MT32x32x64", kNarrow},
           NumberWidthCase{"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV", kWide},
           NumberWidthCase{"Cijk_Ailk", kUnsaid},
           NumberWidthCase{
               "void at::native::vectorized_elementwise_kernel<8, "
               "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)",
               kNarrow},
           NumberWidthCase{"void softmax_warp_forward<float, float, float, 10, true>(float*, int)",
                           kWide},
           NumberWidthCase{"void cast<float, c10::Half>(float*)", kNarrow},
           NumberWidthCase{"void CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 4, 64, 64>(int)",
                           kNarrow},
           NumberWidthCase{"batched_transpose_16x32_half", kNarrow},
           NumberWidthCase{"triton_poi_fused_rotate_half_0", kUnsaid},
           NumberWidthCase{"triton_poi_fused_0", kUnsaid},
           NumberWidthCase{"_float_to_something", kUnsaid},
           NumberWidthCase{"", kUnsaid},
       }) {
    EXPECT_EQ(number_width(kernel), width) << kernel;
  }
}

}  // namespace
}  // namespace stepscope::analysis
