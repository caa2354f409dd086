#include "analysis/number_width.h"

#include <string_view>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

struct Case {
  std::string_view kernel;
  NumberWidth width;
};

TEST(NumberWidth, IsWhatTheNameSays) {
  constexpr auto narrow = NumberWidth::kNarrow;
  constexpr auto wide = NumberWidth::kWide;
  constexpr auto unsaid = NumberWidth::kUnsaid;
  for (const auto& [kernel, width] : {
           Case{"nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", narrow},
           Case{"nvjet_sm90_tst_128x128_64x6_1x2_h_bz_NTT", narrow},
           Case{"nvjet_sss_128x128_16x4_h_bz_TNN", wide},
           Case{"nvjet_sm90_", unsaid},
           Case{"nvjet_sm90", unsaid},
           Case{"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", narrow},
           Case{"ampere_sgemm_32x128_nn", wide},
           Case{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x8", wide},
           Case{"cudnn_infer_ampere_scudnn_128x64_relu", wide},
           Case{"Cijk_Ailk_Bjlk_BBS_BH_MT32x32x64", narrow},
           Case{"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV", wide},
           Case{"Cijk_Ailk", unsaid},
           Case{"void at::native::vectorized_elementwise_kernel<8, "
                "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)",
                narrow},
           Case{"void softmax_warp_forward<float, float, float, 10, true>(float*, int)", wide},
           Case{"void cast<float, c10::Half>(float*)", narrow},
           Case{"void CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 4, 64, 64>(int)", narrow},
           Case{"batched_transpose_16x32_half", narrow},
           Case{"triton_poi_fused_rotate_half_0", unsaid},
           Case{"triton_poi_fused_0", unsaid},
           Case{"_float_to_something", unsaid},
           Case{"", unsaid},
       }) {
    EXPECT_EQ(number_width(kernel), width) << kernel;
  }
}

}  // namespace
}  // namespace stepscope::analysis
