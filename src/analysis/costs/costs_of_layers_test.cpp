// Formulas of layers, counted by hand: pooling, recurrent networks, bags, losses, odd products.
#include <string>

#include <gtest/gtest.h>

#include "analysis/costs/costs_for_tests.h"

namespace stepscope::analysis {
namespace {

using CostsOfLayersCase = CostCase;
constexpr auto kCostsOfLayersNo = std::nullopt;

TEST(CostsOfLayers, OddProducts) {
  const CostsOfLayersCase cases[] = {
      {"a row for each number of the column, and self", "aten::addr", "[[2,3],[2],[3],[],[]]",
       R"(["float","float","float","Scalar","Scalar"])", R"(["","","","1","1"])", 12,
       (6 + 2 + 3 + 6) * 4},
      {"self counts for nothing", "aten::addr", "[[2,3],[2],[3],[],[]]",
       R"(["float","float","float","Scalar","Scalar"])", R"(["","","","0","1"])", 6,
       (2 + 3 + 6) * 4},
      {"lists of scales", "aten::_scaled_mm_v2", "[[2,3],[3,4],[[]],[],[],[[]],[],[],[],[],[],[]]",
       R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","TensorList","ScalarList","ScalarList","TensorList","ScalarList","ScalarList","","Scalar","ScalarList","Scalar"])",
       R"(["","","","[0]","[]","","[0]","[]","","15","[]","False"])", 48, kCostsOfLayersNo,
       Missing::kLists},
      {"8-bit weights", "aten::_weight_int8pack_mm", "[[2,3],[4,3],[4]]",
       R"(["c10::BFloat16","signed char","c10::BFloat16"])", "", 48, 12 + 12 + 8 + 16},
      // 16 columns: two blocks of eight; k is that of the input.
      {"4-bit weights in blocks", "aten::_weight_int4pack_mm", "[[2,64],[2,2,32,4],[],[2,16,2]]",
       R"(["c10::BFloat16","int","Scalar","c10::BFloat16"])", R"(["","","32",""])",
       2L * 2 * 16 * 64, 256 + 512 * 4 + 128 + 64},
      // 4 by 4, stride 2: (4 − 1)·2 + 3 = 9, 6 channels in 2 groups.
      {"transposed by the library, groups", "aten::cudnn_convolution_transpose",
       "[[1,2,4,4],[2,3,3,3],[],[],[],[],[],[],[],[]]",
       R"(["float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
       R"(["","","[0, 0]","[0, 0]","[2, 2]","[1, 1]","2","False","False","True"])", 2L * 16 * 54,
       (32 + 54 + 6 * 81) * 4},
      {"dilated, by hand", "aten::slow_conv_dilated2d", "[[1,1,8,8],[1,1,3,3],[],[],[],[],[]]",
       R"(["float","float","ScalarList","","ScalarList","ScalarList","ScalarList"])",
       R"(["","","[3, 3]","","[1, 1]","[0, 0]","[2, 2]"])", 2L * 16 * 9, (64 + 9 + 16) * 4},
      {"a nested tensor has no size", "aten::add", "[[],[],[]]",
       R"(["NestedTensorImpl","NestedTensorImpl","Scalar"])", R"(["","","1"])", kCostsOfLayersNo,
       kCostsOfLayersNo, Missing::kInputs},
  };
  check(cases);
}

TEST(CostsOfLayers, Recurrent) {
  constexpr const char* kTypes =
      R"(["float","TensorList","Scalar","float","float","float","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","ScalarList",""])";
  constexpr const char* kBack =
      R"(["float","TensorList","Scalar","float","float","float","float","float","","","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","ScalarList","","unsigned char","ScalarList"])";
  // 5 steps of 2 sequences; an LSTM has 4 gates.
  constexpr std::int64_t kRows = 10;
  const CostsOfLayersCase cases[] = {
      {"one layer: 4 gates of 8 from 3 inputs and 8 of before, two biases", "aten::_cudnn_rnn",
       "[[5,2,3],[],[],[416],[1,2,8],[1,2,8],[],[],[],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","4","","","","2","8","0","1","False","0.","True","False","[]",""])",
       kRows * (2 * 32 * (3 + 8) + 64), 4L * (30 + 416 + 4 * 16 + 80)},
      {"two layers, both ways: the second sees 16", "aten::_cudnn_rnn",
       "[[5,2,3],[],[],[1],[4,2,8],[4,2,8],[],[],[],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","2","","","","2","8","0","2","False","0.","True","True","[]",""])",
       kRows * 2 * 2 * 32 * (3 + 8 + 16 + 8), 4L * (30 + 1 + 4 * 64 + 160)},
      {"projected to 4", "aten::_cudnn_rnn",
       "[[5,2,3],[],[],[1],[1,2,4],[1,2,8],[],[],[],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","3","","","","2","8","4","1","False","0.","True","False","[]",""])",
       kRows * 2 * (32 * (3 + 4) + 8 * 4), 4L * (30 + 1 + 2 * (8 + 16) + 40)},
      {"packed sequences: rows are rows", "aten::_cudnn_rnn",
       "[[7,3],[],[],[1],[1,2,8],[],[],[],[],[],[],[],[],[],[],[]]",
       R"(["float","TensorList","Scalar","float","float","","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","ScalarList",""])",
       R"(["","","2","","","","3","8","0","1","False","0.","True","False","[2, 2, 2, 1]",""])",
       7L * 2 * 24 * 11, 4L * (21 + 1 + 2 * 16 + 56)},
      {"values were not recorded", "aten::_cudnn_rnn",
       "[[5,2,3],[],[],[416],[1,2,8],[1,2,8],[],[],[],[],[],[],[],[],[],[]]", kTypes, "",
       kCostsOfLayersNo, kCostsOfLayersNo, Missing::kValues},
      {"gradients of input and weights", "aten::_cudnn_rnn_backward",
       "[[5,2,3],[],[],[416],[1,2,8],[1,2,8],[5,2,8],[5,2,8],[],[],[],[],[],[],[],[],[],[],[],[],"
       "[9],[]]",
       kBack,
       R"(["","","4","","","","","","","","2","8","0","1","False","0.","True","False","[]","","","[True, False, False, True]"])",
       2 * kRows * 2 * 32 * (3 + 8), 4L * (2 * 30 + 2 * 416 + 4 * 16 + 2 * 80)},
      {"of the state alone", "aten::_cudnn_rnn_backward",
       "[[5,2,3],[],[],[416],[1,2,8],[1,2,8],[5,2,8],[5,2,8],[],[],[],[],[],[],[],[],[],[],[],[],"
       "[9],[]]",
       kBack,
       R"(["","","4","","","","","","","","2","8","0","1","False","0.","True","False","[]","","","[False, True, True, False]"])",
       kRows * 2 * 32 * 8, 4L * (30 + 416 + 4 * 16 + 2 * 80)},
  };
  check(cases);
}

TEST(CostsOfLayers, AttentionOfOtherMakers) {
  const CostsOfLayersCase cases[] = {
      {"causal: 10 of 16 pairs", "aten::_scaled_dot_product_fused_attention_overrideable",
       "[[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[],[]]",
       R"(["c10::Half","c10::Half","c10::Half","","Scalar","Scalar","Scalar",""])",
       R"(["","","","","0.","True","False",""])", 2L * 2 * 10 * 16, 2L * 64 * 4},
      {"five products", "aten::_scaled_dot_product_fused_attention_overrideable_backward",
       "[[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[1,2,4,8],[1,2,4],[],[],[],[],[],[],[],[],[]"
       "]",
       R"(["c10::Half","c10::Half","c10::Half","c10::Half","","ScalarList","c10::Half","float","","","Scalar","Scalar","Scalar","Scalar","long int","long int",""])",
       R"(["","","","","","[True, True, True, False]","","","","","4","4","0.","False","","",""])",
       2L * 2 * 16 * 40, 2L * 64 * 8},
  };
  check(cases);
}

TEST(CostsOfLayers, ComplexNumbers) {
  constexpr const char* kTwo = R"(["c10::complex<float>","c10::complex<float>"])";
  const CostsOfLayersCase cases[] = {
      {"both parts", "aten::add", "[[4],[4],[]]",
       R"(["c10::complex<float>","c10::complex<float>","Scalar"])", R"(["","","1"])", 8, 12 * 8},
      {"four products and two sums", "aten::mul", "[[4],[4]]", kTwo, "", 24, 12 * 8},
      {"by a real number", "aten::mul", "[[4],[4]]", R"(["c10::complex<float>","float"])", "", 8,
       8 * 8 + 16},
      {"the result is real, and what it takes is not known", "aten::abs", "[[4]]",
       R"(["c10::complex<float>"])", "", kCostsOfLayersNo, kCostsOfLayersNo, Missing::kInputs},
      {"a number or a tensor of no dimension: the width of the result is not known", "aten::mul",
       "[[4],[]]", R"(["float","c10::complex<double>"])", "", 8, kCostsOfLayersNo, Missing::kTypes},
      {"the same of whole numbers and a fraction", "aten::mul", "[[4],[]]",
       R"(["long int","double"])", "", 4, kCostsOfLayersNo, Missing::kTypes},
      {"sum", "aten::sum", "[[4],[]]", R"(["c10::complex<float>",""])", "", 8, 5 * 8},
      {"norm", "aten::linalg_vector_norm", "[[4],[],[],[],[]]",
       R"(["c10::complex<float>","Scalar","","Scalar",""])", R"(["","2","","False",""])",
       kCostsOfLayersNo, kCostsOfLayersNo, Missing::kInputs},
  };
  check(cases);
}

TEST(CostsOfLayers, Pooling) {
  constexpr const char* kPool =
      R"(["float","ScalarList","ScalarList","ScalarList","Scalar","Scalar",""])";
  const CostsOfLayersCase cases[] = {
      {"means of 2 by 2", "aten::avg_pool2d", "[[1,2,8,8],[],[],[],[],[],[]]", kPool,
       R"(["","[2, 2]","[]","[0, 0]","False","True",""])", 32 * 4, (128 + 32) * 4},
      // 7 with windows of 2: 3 whole ones, and one that begins in the image.
      {"a last window that is not whole", "aten::avg_pool2d", "[[1,1,7,7],[],[],[],[],[],[]]",
       kPool, R"(["","[2, 2]","[2, 2]","[0, 0]","True","True",""])", 16 * 4, (49 + 16) * 4},
      {"its gradient", "aten::avg_pool2d_backward", "[[1,2,4,4],[1,2,8,8],[],[],[],[],[],[]]",
       R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar","Scalar",""])",
       R"(["","","[2, 2]","[]","[0, 0]","False","True",""])", 32 * 4, (32 + 128) * 4},
      {"to one", "aten::_adaptive_avg_pool2d", "[[2,3,7,7],[]]", R"(["float","ScalarList"])",
       R"(["","[1, 1]"])", 6 * 49, (6 * 49 + 6) * 4},
      // 5 into 3: 0-1, 1-3, 3-4 are 2 + 3 + 2 = 7.
      {"windows that overlap", "aten::_adaptive_avg_pool2d", "[[1,1,5,5],[]]",
       R"(["float","ScalarList"])", R"(["","[3, 3]"])", 49, (25 + 9) * 4},
      {"their gradient", "aten::_adaptive_avg_pool2d_backward", "[[1,1,3,3],[1,1,5,5]]",
       R"(["float","float"])", "", 49, (9 + 25) * 4},
      {"the largest of them, and where", "aten::adaptive_max_pool2d", "[[1,1,5,5],[]]",
       R"(["float","ScalarList"])", R"(["","[3, 3]"])", 49, (25 + 9) * 4 + 9 * 8},
      {"three dimensions", "aten::max_pool3d_with_indices", "[[2,4,4,4],[],[],[],[],[]]",
       R"(["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])",
       R"(["","[2, 2, 2]","[]","[0, 0, 0]","[1, 1, 1]","False"])", 16 * 8, (128 + 16) * 4 + 16 * 8},
      {"four neighbours and their weights", "aten::upsample_bilinear2d", "[[1,1,4,4],[],[],[],[]]",
       R"(["float","ScalarList","Scalar","Scalar","Scalar"])", R"(["","[8, 8]","False","2.","2."])",
       64 * 7, (16 + 64) * 4},
      {"by a factor, the size not said", "aten::upsample_nearest2d", "[[1,1,4,4],[],[]]",
       R"(["float","","ScalarList"])", R"(["","","[2., 2.]"])", kCostsOfLayersNo, kCostsOfLayersNo,
       Missing::kValues},
      {"sizes below nothing", "aten::upsample_nearest2d", "[[1,1,4,4],[],[],[]]",
       R"(["float","ScalarList","Scalar","Scalar"])", R"(["","[-8, 8]","2.","2."])",
       kCostsOfLayersNo, kCostsOfLayersNo, Missing::kValues},
      {"back to the image", "aten::upsample_nearest2d_backward", "[[1,1,8,8],[],[],[],[]]",
       R"(["float","ScalarList","ScalarList","Scalar","Scalar"])",
       R"(["","[8, 8]","[1, 1, 4, 4]","2.","2."])", 64, (64 + 16) * 4},
  };
  check(cases);
}

TEST(CostsOfLayers, BagsLossesAndStatistics) {
  constexpr const char* kBag =
      R"(["float","long int","long int","Scalar","Scalar","Scalar","","Scalar","Scalar"])";
  const CostsOfLayersCase cases[] = {
      {"12 rows of 8 into 3 bags", "aten::_embedding_bag", "[[100,8],[12],[3],[],[],[],[],[],[]]",
       kBag, R"(["","","","False","0","False","","False","-1"])", 96,
       96 * 4 + 12 * 8 + 3 * 8 + 24 * 4},
      {"the last offset is an end", "aten::_embedding_bag", "[[100,8],[12],[3],[],[],[],[],[],[]]",
       kBag, R"(["","","","False","0","False","","True","-1"])", 96,
       96 * 4 + 12 * 8 + 3 * 8 + 16 * 4},
      {"their gradient", "aten::_embedding_bag_dense_backward",
       "[[3,8],[12],[12],[3],[3],[],[],[],[],[]]",
       R"(["float","long int","long int","long int","long int","Scalar","Scalar","Scalar","","Scalar"])",
       R"(["","","","","","100","False","0","","-1"])", 96, (24 + 96) * 4 + 2 * 96},
      {"added where indices say", "aten::_index_put_impl_", "[[64,32],[],[20,32],[],[]]",
       R"(["float","","float","Scalar","Scalar"])", R"(["","","","True","True"])", 640,
       kCostsOfLayersNo, Missing::kLists},
      {"one value for many places", "aten::_index_put_impl_", "[[64,32],[],[],[],[]]",
       R"(["float","","float","Scalar","Scalar"])", R"(["","","","True","True"])", kCostsOfLayersNo,
       kCostsOfLayersNo, Missing::kLists},
      {"variance of rows", "aten::var", "[[4,8],[],[],[]]",
       R"(["float","ScalarList","Scalar","Scalar"])", R"(["","[-1]","1","False"])", 128,
       (32 + 4) * 4},
      {"of a sample, of all", "aten::std", "[[4,8],[]]", R"(["float","Scalar"])", R"(["","True"])",
       128, (32 + 1) * 4},
      {"and the mean", "aten::var_mean", "[[4,8],[],[],[]]",
       R"(["float","ScalarList","Scalar","Scalar"])", R"(["","[-1]","1","False"])", 128,
       (32 + 4 + 4) * 4},
      {"half of it is the gate", "aten::glu", "[[4,8],[]]", R"(["float","Scalar"])", R"(["","-1"])",
       16 * 5, (32 + 16) * 4},
      {"no weights", "aten::binary_cross_entropy", "[[4,8],[4,8],[],[]]",
       R"(["float","float","","Scalar"])", R"(["","","","1"])", 32 * 6, 96 * 4},
      {"turned around", "aten::flip", "[[4,8],[]]", R"(["float","ScalarList"])", R"(["","[0]"])", 0,
       64 * 4},
      {"the gradient stands first, the result fifth", "aten::elu_backward", "[[4],[],[],[],[],[4]]",
       R"(["float","Scalar","Scalar","Scalar","Scalar","float"])",
       R"(["","1.","1","1","False",""])", 16, 12 * 4},
  };
  check(cases);
}

}  // namespace
}  // namespace stepscope::analysis
