// Long names cut so that they stay different.
#include "report/tables/short_names.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> shortened(std::vector<std::string_view> names, std::size_t width) {
  return short_names(names, width);
}

TEST(PlainName, LeavesOutWhatNobodyReads) {
  const struct {
    std::string_view name, plain;
  } cases[] = {
      {"void at::native::reduce_kernel<512, float>(int, float*)", "reduce_kernel<512, float>"},
      {"void (anonymous namespace)::softmax_warp<float, 8>(float*)", "softmax_warp<float, 8>"},
      {"void cutlass::Kernel2<cutlass_80_gemm>(cutlass_80_gemm::Params)",
       "cutlass::Kernel2<cutlass_80_gemm>"},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {"enumerate(loader)", "enumerate(loader)"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"},
      {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"},
      {"void f<std::array<char*, 3ul> >(int)", "f<array<char*, 3ul>>"},
      {"void at::native::vectorized_elementwise_kernel<4, add<float>, std::array<char*, 3ul> "
       ">(int)",
       "vectorized_elementwise_kernel<4, add<float>>"},
      {"format::at", "format::at"},
      {"void operator()(int)", "operator()"},
      {"_ZN7ck_tile6kentryILi1EfEEvPf.kd", "ck_tile::kentry<1, float>"},
      {"_Zebra", "_Zebra"},
      {"", ""},
      {"void ", "void "},
      {")", ")"},
      {"a::b)))", "a::b)))"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plain_name(c.name), c.plain);
  }
}

TEST(ShortNames, KeepsWhatFits) {
  EXPECT_THAT(shortened({"gemm", "relu"}, 10), ElementsAre("gemm", "relu"));
}

TEST(ShortNames, ShowsWhereNamesPart) {
  EXPECT_THAT(shortened({"vectorized_elementwise_kernel<4, add<float>>",
                         "vectorized_elementwise_kernel<4, mul<float>>"},
                        24),
              ElementsAre("vectorize…4, add<float>>", "vectorize…4, mul<float>>"));
}

TEST(ShortNames, KeepsTheWordsBeforeTheDifference) {
  EXPECT_THAT(shortened({"vectorized_elementwise_kernel<4, CUDAFunctor_add<BFloat16>>",
                         "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>"},
                        44),
              ElementsAre("vectorized_elemen…CUDAFunctor_add<BFloat16>>",
                          "vectorized_elemen…4, CUDAFunctor_add<float>>"));
}

TEST(ShortNames, KeepsEndsThatDiffer) {
  const auto texts = shortened({"ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x3_tn",
                                "ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x3_nn",
                                "ampere_bf16_s16816gemm_bf16_256x64_ldg8_relu_f2f_stages_64x3_nn"},
                               28);
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), 3U);
  EXPECT_THAT(texts[0], ::testing::EndsWith("tn"));
  EXPECT_THAT(texts[1], ::testing::EndsWith("nn"));
}

TEST(ShortNames, OverloadsKeepTheirArguments) {
  EXPECT_THAT(shortened({"void ns::f<int>(int)", "void ns::f<int>(float)"}, 0),
              ElementsAre("void ns::f<int>(int)", "void ns::f<int>(float)"));
}

TEST(ShortNames, ANameMayBeTheBeginningOfAnother) {
  const auto texts = shortened({"matmul_bf16_128x128x1", "matmul_bf16_128x128x1_swiglu",
                                "matmul_bf16_128x128x1_", "matmul bf16 128 ", "matmul bf16 128 x"},
                               12);
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), 5U);
}

TEST(ShortNames, KernelsOfLibrariesKeepTheirEnds) {
  EXPECT_THAT(
      shortened({"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                 "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevKernelArgsStorage<4096ul>)"},
                30),
      ElementsAre("ncclDevKerne…_Sum_bf16_RING_LL", "ncclDevKerne…_Sum_bf16_TREE_LL"));
  EXPECT_THAT(shortened({"cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_32x6_tn_align8",
                         "void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm_bf16_16x16_nn>"
                         "(cutlass_80_wmma_tensorop_s161616gemm_bf16_16x16_nn::Params)"},
                        40),
              ElementsAre("cutlass_80_tensor…_128x64_32x6_tn_align8",
                          "cutlass::Kern…s161616gemm_bf16_16x16_nn>"));
}

TEST(ShortNames, EqualNamesStayEqual) {
  EXPECT_THAT(shortened({"a_long_name_indeed", "a_long_name_indeed"}, 8),
              ElementsAre("a_long_…", "a_long_…"));
}

TEST(ShortNames, NeverCutsACharacterInHalf) {
  const auto texts = shortened({"ααααααααααααααααααααa", "ααααααααααααααααααααb"}, 10);
  EXPECT_NE(texts[0], texts[1]);
  for (const std::string& text : texts) EXPECT_EQ(text, printable(text));
}

TEST(ShortNames, AnyWidthGivesDifferentTextsThatFit) {
  std::vector<std::string> names;
  names.reserve(40);
  for (int i = 0; i < 40; ++i) {
    names.push_back("void at::native::elementwise_kernel<128, " + std::to_string(i / 8) +
                    ", at::native::functor<" + std::string(static_cast<std::size_t>(i % 8), 'x') +
                    ", " + std::to_string(i) + "> >(int)");
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  for (std::size_t width = 4; width < 90; ++width) {
    SCOPED_TRACE(width);
    const auto texts = short_names(views, width);
    EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), names.size());
    for (const std::string& text : texts) EXPECT_LE(text_width(text), width);
  }
}

TEST(ShortNames, TheFirstOfSeveralIsNamed) {
  EXPECT_EQ(plain_name("void at::native::copy<float>(int, float*) and 2 more"),
            "copy<float> and 2 more");
  EXPECT_EQ(plain_name("nvjet_sm90 and 1,204 more"), "nvjet_sm90 and 1,204 more");
}

}  // namespace
}  // namespace stepscope::report
