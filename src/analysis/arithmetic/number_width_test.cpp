#include "analysis/arithmetic/number_width.h"

#include <string_view>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

struct Case {
  std::string_view kernel;
  NumberWidth width;
};

TEST(NumberWidth, IsWhatTheNameSays) {
  constexpr auto kNarrow = NumberWidth::kNarrow;
  constexpr auto kWide = NumberWidth::kWide;
  constexpr auto kUnsaid = NumberWidth::kUnsaid;
  for (const auto& [kernel, width] : {
           Case{"nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", kNarrow},
           Case{"nvjet_sm90_tst_128x128_64x6_1x2_h_bz_NTT", kNarrow},
           Case{"nvjet_sss_128x128_16x4_h_bz_TNN", kWide},
           Case{"nvjet_sm90_", kUnsaid},
           Case{"nvjet_sm90", kUnsaid},
           Case{"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", kNarrow},
           Case{"ampere_sgemm_32x128_nn", kWide},
           Case{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x8", kWide},
           Case{"cudnn_infer_ampere_scudnn_128x64_relu", kWide},
           Case{"Cijk_Ailk_Bjlk_BBS_BH_MT32x32x64", kNarrow},
           Case{"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV", kWide},
           Case{"Cijk_Ailk", kUnsaid},
           Case{"void at::native::vectorized_elementwise_kernel<8, "
                "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)",
                kNarrow},
           Case{"void softmax_warp_forward<float, float, float, 10, true>(float*, int)", kWide},
           Case{"void cast<float, c10::Half>(float*)", kNarrow},
           Case{"void CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 4, 64, 64>(int)", kNarrow},
           Case{"batched_transpose_16x32_half", kNarrow},
           Case{"triton_poi_fused_rotate_half_0", kUnsaid},
           Case{"triton_poi_fused_0", kUnsaid},
           Case{"_float_to_something", kUnsaid},
           Case{"", kUnsaid},
       }) {
    EXPECT_EQ(number_width(kernel), width) << kernel;
  }
}

}  // namespace
}  // namespace stepscope::analysis
