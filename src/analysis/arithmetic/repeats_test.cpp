#include "analysis/arithmetic/repeats.h"

#include <map>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analysis/device/fusible.h"

namespace stepscope::analysis {
namespace {

// Letters are kernels, every other character is a break of its own; joining saves 1 each.
RepeatText text_of(std::string_view letters) {
  RepeatText text;
  text.names = 26;
  for (const char c : letters) {
    const bool is_name = c >= 'a' && c <= 'z';
    text.symbols.push_back(is_name ? static_cast<std::uint32_t>(c - 'a')
                                   : text.names + text.breaks++);
    text.joining.push_back(is_name ? 1 : 0);
  }
  return text;
}

std::string found(std::string_view letters, const RepeatLimits& limits = {}) {
  std::string out;
  for (const Repeat& repeat : find_repeats(text_of(letters), limits)) {
    const Repeat::Place& first = repeat.places.front();
    out += std::string(letters.substr(first.first, repeat.length)) + "x" +
           std::to_string(repeat.places.size()) + (repeat.length == 1 ? "+" : "") + "=" +
           std::to_string(repeat.saves) + " ";
  }
  return out;
}

TEST(Repeats, AreTheLongestThatComeAgain) {
  EXPECT_EQ(found("abcd.abcd.abcd."), "abcdx3=9 ");
  EXPECT_EQ(found("xabc.yabc."), "abcx2=4 ");
  EXPECT_EQ(found("abc.xyz."), "");
  EXPECT_EQ(found(""), "");
}

TEST(Repeats, OfRoundsAreOneRound) {
  EXPECT_EQ(found("abcabcabcabcabcabcabcabc."), "abcx8=16 ");
  EXPECT_EQ(find_repeats(text_of("abcabcabc.abc."), {}).front().in_a_row, 3U);
}

TEST(Repeats, OfOneKernelAreRuns) {
  EXPECT_EQ(found("aaaaaa.aaa.b."), "ax2+=7 ");
  EXPECT_EQ(found("aa."), "");  // one join is not a habit
}

TEST(Repeats, DoNotReachOverBreaks) { EXPECT_EQ(found("ab.cd.ab.cd."), "abx2=2 cdx2=2 "); }

TEST(Repeats, TakeEachPlaceOnce) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string letters;
    for (int i = 0; i < 80; ++i) letters += "abc."[random() % 4];
    letters += '.';
    const RepeatText text = text_of(letters);
    std::map<std::uint32_t, int> uses;
    for (const Repeat& repeat : find_repeats(text, {.longest = 6, .min_count = 2, .top = 0})) {
      const std::string_view word =
          std::string_view(letters).substr(repeat.places[0].first, repeat.length);
      std::int64_t saves = 0;
      for (const auto& [first, count] : repeat.places) {
        saves += count - 1;
        for (std::uint32_t i = 0; i < count; ++i) {
          EXPECT_EQ(++uses[first + i], 1);
          EXPECT_EQ(letters[first + i], word[i % word.size()]);
        }
      }
      EXPECT_EQ(saves, repeat.saves);
    }
  }
}

TEST(Repeats, KeepToTheLimits) {
  EXPECT_EQ(found("abcdef.abcdef.", {.longest = 4}), "abcdx2=6 efx2=2 ");
  EXPECT_EQ(found("ab.ab.ab.cd.cd.", {.min_count = 3}), "abx3=3 ");
  EXPECT_EQ(found("ab.ab.ab.cd.cd.", {.top = 1}), "abx3=3 ");
}

TEST(Fusible, LeavesMatrixKernelsAlone) {
  for (const char* kernel :
       {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "volta_scudnn_128x64_relu_interior_nn_v1",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4>(int)",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S", "attn_fwd", "fmhaSm100aKernel_QkvE4m3",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>()",
        "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weight",
        "void implicit_convolve_sgemm<float, float>(int)", "triton_tem_fused_addmm_3",
        "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16"}) {
    EXPECT_TRUE(names_matrix_kernel(kernel)) << kernel;
  }
  for (const char* kernel :
       {"", "void at::native::vectorized_elementwise_kernel<4, gemm_functor>(int)",
        "triton_poi_fused_add_mul_0", "void vllm::reshape_and_cache_flash_kernel<float>(int)",
        "void moe::dev::finalize::finalizeKernel<cutlass::bfloat16_t>(int)",
        "void at::native::convert_kernel<float>(int)", "_combined_routing_compute"}) {
    EXPECT_FALSE(names_matrix_kernel(kernel)) << kernel;
  }
}

}  // namespace
}  // namespace stepscope::analysis
