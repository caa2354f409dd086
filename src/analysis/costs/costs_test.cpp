#include "analysis/costs/costs.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "analysis/costs/costs_for_tests.h"

namespace stepscope::analysis {
namespace {

using CostsCase = CostCase;
constexpr auto kCostsNo = std::nullopt;
constexpr const char* kTwoFloats = R"(["float","float"])";

TEST(Costs, MatrixProducts) {
  const CostsCase cases[] = {
      {"2·m·n·k", "aten::mm", "[[2,3],[3,4]]", kTwoFloats, "", 48, (6 + 12 + 8) * 4},
      {"with the result's tensor", "aten::mm", "[[2,3],[3,4],[2,4]]",
       R"(["float","float","float"])", "", 48, 104},
      {"inputs of another call before it", "aten::mm", "[[9,9],[2,3],[3,4]]",
       R"(["float","float","float"])", "", kCostsNo, kCostsNo, Missing::kInputs},
      {"inner sizes differ", "aten::mm", "[[2,3],[4,4]]", kTwoFloats, "", kCostsNo, kCostsNo,
       Missing::kInputs},
      {"types differ", "aten::mm", "[[2,3],[3,4]]", R"(["float","c10::Half"])", "", kCostsNo,
       kCostsNo, Missing::kInputs},
      {"odd type: FLOPs but no bytes", "aten::mm", "[[2,3],[3,4]]",
       R"(["c10::quint8","c10::quint8"])", "", 48, kCostsNo, Missing::kTypes},
      {"complex numbers", "aten::mm", "[[2,3],[3,4]]",
       R"(["c10::complex<float>","c10::complex<float>"])", "", 192, 26 * 8},
      {"nothing to sum", "aten::mm", "[[2,0],[0,4]]", kTwoFloats, "", 0, 32},
      {"too large", "aten::mm", "[[4000000000,4000000000],[4000000000,4]]", kTwoFloats, "",
       kCostsNo, kCostsNo, Missing::kTooLarge},
      {"expanded rows are read once", "aten::mm", "[[2,3],[3,4]]", kTwoFloats, "", 48,
       (3 + 12 + 8) * 4, Missing::kNothing, "[[0,1],[4,1]]"},
      {"negative strides", "aten::mm", "[[2,3],[3,4]]", kTwoFloats, "", 48, kCostsNo,
       Missing::kStrides, "[[-3,1],[4,1]]"},
      {"a sparse matrix", "aten::mm", "[[2,3],[3,4]]", kTwoFloats, "", kCostsNo, kCostsNo,
       Missing::kLayout, "[[],[4,1]]"},
      {"a bias that counts for nothing", "aten::addmm", "[[4],[2,3],[3,4],[],[]]",
       R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"])",
       R"(["","","","0","1"])", 48, (6 + 12 + 8) * 2},
      {"a bias of one row", "aten::addmm", "[[4],[2,3],[3,4],[],[]]",
       R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"])",
       R"(["","","","1","1"])", 48 + 8, (4 + 6 + 12 + 8) * 2},
      {"batches", "aten::bmm", "[[5,2,3],[5,3,4]]", kTwoFloats, "", 240, 5 * 26 * 4},
      {"batches and a sum", "aten::baddbmm", "[[5,2,4],[5,2,3],[5,3,4],[],[]]",
       R"(["float","float","float","Scalar","Scalar"])", "", 240 + 40, (5 * 26 + 40) * 4},
      {"batches summed", "aten::addbmm", "[[2,4],[5,2,3],[5,3,4],[],[]]",
       R"(["float","float","float","Scalar","Scalar"])", "", 240 + 8, (30 + 60 + 8 + 8) * 4},
      {"matrix and vector", "aten::mv", "[[2,3],[3]]", kTwoFloats, "", 12, 11 * 4},
      {"vectors", "aten::dot", "[[3],[3]]", kTwoFloats, "", 6, 7 * 4},
      {"leading dimensions are rows", "aten::linear", "[[5,2,3],[4,3],[4]]",
       R"(["float","float","float"])", "", 240 + 40, (30 + 12 + 4 + 40) * 4},
      {"no bias", "aten::linear", "[[2,3],[4,3],[]]", R"(["float","float",""])", "", 48, 104},
      {"the stack of an interpreter", "aten::linear", "[[7,7],[2,3],[4,3],[4]]",
       R"(["float","float","float","float"])", "", kCostsNo, kCostsNo, Missing::kInputs},
      {"broadcast batches", "aten::matmul", "[[5,1,2,3],[6,3,4]]", kTwoFloats, "", 30 * 48,
       (30 + 72 + 240) * 4},
      {"8-bit numbers, 16-bit result", "aten::_scaled_mm", "[[2,3],[3,4],[],[],[],[],[],[]]",
       R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])",
       R"(["","","","","","","15","False"])", 48, 6 + 12 + 16 + 8},
      {"two numbers in a byte", "aten::_scaled_mm", "[[2,3],[3,4],[],[],[],[],[],[]]",
       R"(["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","float","float","","","Scalar","Scalar"])",
       R"(["","","","","","","15","False"])", 96, 6 + 12 + 16 + 8},
      {"the result's type was not recorded", "aten::_scaled_mm", "[[2,3],[3,4],[],[],[],[],[],[]]",
       R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])", "",
       48, kCostsNo, Missing::kValues},
      {"rows of groups", "aten::_grouped_mm", "[[10,3],[5,3,4],[5],[],[]]",
       R"(["c10::BFloat16","c10::BFloat16","int","",""])", "", 240, (30 + 60 + 40) * 2},
      {"no shapes", "aten::mm", "", "", "", kCostsNo, kCostsNo, Missing::kShapes},
      {"no formula", "my::thing", "[]", "[]", "", kCostsNo, kCostsNo, Missing::kFormula},
  };
  check(cases);
}

TEST(Costs, Convolutions) {
  constexpr const char* kTypes =
      R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";
  constexpr const char* kBack =
      R"(["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"])";
  const CostsCase cases[] = {
      // 8×8 with a 3×3 kernel, stride 2, padding 1: 4×4.
      {"stride and padding", "aten::convolution", "[[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]]",
       kTypes, R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1"])",
       2L * 2 * 16 * 5 * 27, (2 * 3 * 64 + 5 * 27 + 2 * 5 * 16) * 4},
      // dilation 2 reaches 5: 8 − 5 + 1 = 4.
      {"dilation", "aten::convolution", "[[1,1,8,8],[1,1,3,3],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","","[1, 1]","[0, 0]","[2, 2]","False","[0, 0]","1"])", 2L * 16 * 9,
       (64 + 9 + 16) * 4},
      {"groups: each output sees its own inputs", "aten::convolution",
       "[[1,4,4,4],[8,1,1,1],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","4"])", 2L * 16 * 8,
       (64 + 8 + 128) * 4},
      // transposed: (4 − 1)·2 + 3 = 9; every input element meets all weights.
      {"transposed", "aten::convolution", "[[1,2,4,4],[2,3,3,3],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1"])", 2L * 16 * 54,
       (32 + 54 + 3 * 81) * 4},
      {"values were not recorded", "aten::convolution",
       "[[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]]", kTypes, "", kCostsNo, kCostsNo,
       Missing::kValues},
      {"kernel larger than the image", "aten::convolution",
       "[[2,3,2,2],[5,3,3,3],[],[],[],[],[],[],[]]", kTypes,
       R"(["","","","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1"])", kCostsNo, kCostsNo,
       Missing::kValues},
      {"the library's own order", "aten::cudnn_convolution",
       "[[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]]",
       R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])",
       R"(["","","[1, 1]","[2, 2]","[1, 1]","1","False","False","True"])", 2L * 2 * 16 * 5 * 27,
       (2 * 3 * 64 + 5 * 27 + 2 * 5 * 16) * 4},
      {"both gradients", "aten::convolution_backward",
       "[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]]", kBack,
       R"(["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"])",
       2L * 2 * 2 * 16 * 5 * 27, 4L * (160 + 2 * 135 + 2 * 384)},
      {"only of the bias: the gradient is read", "aten::convolution_backward",
       "[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]]", kBack,
       R"(["","","","[5]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[False, False, True]"])",
       0, 4L * 160},
      {"only of the weight", "aten::convolution_backward",
       "[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]]", kBack,
       R"(["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[False, True, False]"])",
       2L * 2 * 16 * 5 * 27, 4L * (160 + 384 + 135)},
      {"older torch", "aten::cudnn_convolution_backward_input",
       "[[],[2,5,4,4],[5,3,3,3],[],[],[],[],[],[],[]]",
       R"(["GenericList","float","float","GenericList","GenericList","GenericList","Int","Bool","Bool","Bool"])",
       "", 2L * 2 * 16 * 5 * 27, kCostsNo, Missing::kValues},
      {"older torch", "aten::cudnn_convolution_backward_weight",
       "[[],[2,5,4,4],[2,3,8,8],[],[],[],[],[],[],[]]",
       R"(["GenericList","float","float","GenericList","GenericList","GenericList","Int","Bool","Bool","Bool"])",
       "", kCostsNo, kCostsNo, Missing::kValues},
  };
  check(cases);
}

TEST(Costs, Attention) {
  constexpr const char* kFlash =
      R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar"])";
  constexpr const char* kEfficient =
      R"(["float","float","float","","","","","","Scalar","Scalar","Scalar","","",""])";
  const CostsCase cases[] = {
      {"two products over all pairs", "aten::_scaled_dot_product_flash_attention",
       "[[2,3,4,8],[2,3,5,8],[2,3,5,8],[],[],[],[]]", kFlash,
       R"(["","","","0.","False","False","0.1"])", 2L * 2 * 3 * 20 * 16,
       2L * (2 * 3 * 8) * (4 + 5 + 5 + 4)},
      {"causal: pairs on and below the diagonal", "aten::_scaled_dot_product_flash_attention",
       "[[1,1,4,8],[1,1,4,8],[1,1,4,8],[],[],[],[]]", kFlash,
       R"(["","","","0.","True","False","0.1"])", 2L * 10 * 16, 2L * 8 * 16},
      {"four heads of queries share one of keys", "aten::_scaled_dot_product_flash_attention",
       "[[1,4,4,8],[1,1,4,8],[1,1,4,8],[],[],[],[]]", kFlash,
       R"(["","","","0.","False","False","0.1"])", 2L * 4 * 16 * 16, 2L * 8 * (16 + 4 + 4 + 16)},
      {"whether causal was not recorded", "aten::_scaled_dot_product_flash_attention",
       "[[1,4,4,8],[1,4,4,8],[1,4,4,8],[],[],[],[]]", kFlash, "", kCostsNo, kCostsNo,
       Missing::kValues},
      {"sequence before heads, mask by number", "aten::_efficient_attention_forward",
       "[[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[],[],[],[],[],[],[],[],[]]", kEfficient,
       R"(["","","","","","","","","0.","1","True","","",""])", 2L * 2 * 10 * 16, 4L * 64 * 4},
      {"packed sequences", "aten::_efficient_attention_forward",
       "[[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[3],[3],[],[],[],[],[],[],[],[]]",
       R"(["float","float","float","","int","int","","","Scalar","Scalar","Scalar","","",""])",
       R"(["","","","","","","","","0.","1","True","","",""])", kCostsNo, kCostsNo,
       Missing::kLengths},
      {"five products", "aten::_scaled_dot_product_efficient_attention_backward",
       "[[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[1,2,4,8],[1,2,4],[],[],[],[],[],[]]",
       R"(["float","float","float","float","","float","float","long int","long int","Scalar","ScalarList","Scalar",""])",
       R"(["","","","","","","","","","0.","[True, True, True, False]","False",""])",
       2L * 2 * 16 * 40, 4L * 64 * 8},
      {"as newer torch records it", "aten::_efficient_attention_backward",
       "[[1,4,2,8],[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[1,4,2,8],[],[],[],[],[1,2,4],[],[],[],[],[],[]"
       ",[],[],[]]",
       R"(["float","float","float","float","","float","","","Scalar","Scalar","float","Scalar","long int","long int","Scalar","Scalar","","","","Scalar"])",
       R"(["","","","","","","","","4","4","","0.","","","1","False","","","","False"])",
       2L * 2 * 10 * 40, 4L * 64 * 8},
      {"a window", "aten::_efficient_attention_backward",
       "[[1,4,2,8],[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[1,4,2,8],[],[],[],[],[1,2,4],[],[],[],[],[],[]"
       ",[],[],[]]",
       R"(["float","float","float","float","","float","","","Scalar","Scalar","float","Scalar","long int","long int","Scalar","Scalar","","","Scalar","Scalar"])",
       R"(["","","","","","","","","4","4","","0.","","","1","False","","","2","False"])", kCostsNo,
       kCostsNo, Missing::kInputs},
  };
  check(cases);
}

TEST(Costs, CausalAttentionSaysWhatTheMaskSaves) {
  const CostsCase causal{
      "",
      "aten::_scaled_dot_product_efficient_attention_backward",
      "[[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[1,2,4,8],[1,2,4],[],[],[],[],[],[]]",
      R"(["float","float","float","float","","float","float","long int","long int","Scalar","ScalarList","Scalar",""])",
      R"(["","","","","","","","","","0.","[True, True, True, False]","True",""])",
      kCostsNo,
      kCostsNo};
  const Cost got = cost(causal);
  EXPECT_EQ(got.flops.value(), 2 * 2 * 10 * 40);
  EXPECT_EQ(got.recomputed_flops.value(), 2 * 2 * 10 * 8);
  EXPECT_EQ(got.masked_flops.value(), 2 * 2 * 6 * 32);
  EXPECT_EQ(got.masked_recomputed_flops.value(), 2 * 2 * 6 * 8);
}

TEST(Costs, Elementwise) {
  const CostsCase cases[] = {
      {"broadcast", "aten::add", "[[4,3],[3],[]]", R"(["float","float","Scalar"])",
       R"(["","","1"])", 12, (12 + 3 + 12) * 4},
      {"in place", "aten::mul_", "[[4,3],[]]", R"(["c10::Half","Scalar"])", R"(["","0.5"])", 12,
       24 * 2},
      {"a double of no dimension does not widen", "aten::mul", "[[4,3],[]]",
       R"(["float","double"])", "", 12, 12 * 4 + 8 + 12 * 4},
      {"half and float make float", "aten::add", "[[4],[4],[]]",
       R"(["c10::Half","float","Scalar"])", R"(["","","1"])", 4, 4 * (2 + 4 + 4)},
      {"both halves make float", "aten::add", "[[4],[4],[]]",
       R"(["c10::Half","c10::BFloat16","Scalar"])", R"(["","","1"])", 4, 4 * (2 + 2 + 4)},
      {"truths", "aten::eq", "[[4],[4]]", R"(["long int","long int"])", "", 4, 4 * 17},
      {"whole numbers divided", "aten::div", "[[4],[4]]", R"(["int","int"])", "", 4, 4 * 12},
      {"a scalar that was not recorded", "aten::mul", "[[4],[]]", R"(["long int","Scalar"])", "", 4,
       kCostsNo, Missing::kValues},
      {"shapes that do not fit", "aten::add", "[[4],[3],[]]", R"(["float","float","Scalar"])", "",
       kCostsNo, kCostsNo, Missing::kInputs},
      {"choice", "aten::where", "[[4],[4],[4]]", R"(["bool","float","float"])", "", 0,
       4 * (1 + 4 + 4 + 4)},
      {"one of the expanded rows", "aten::mul", "[[4,3],[4,3]]", kTwoFloats, "", 12,
       (12 + 3 + 12) * 4, Missing::kNothing, "[[3,1],[0,1]]"},
      {"backward", "aten::gelu_backward", "[[4],[4],[]]", R"(["float","float",""])", "", 48, 48},
  };
  check(cases);
}

TEST(Costs, Streams) {
  const CostsCase cases[] = {
      {"layer norm", "aten::native_layer_norm", "[[2,8],[],[8],[8],[]]",
       R"(["float","ScalarList","float","float","Scalar"])", R"(["","[8]","","","1e-05"])", 112,
       (16 + 8 + 8 + 16) * 4},
      {"without weights", "aten::native_layer_norm", "[[2,8],[],[],[],[]]",
       R"(["float","ScalarList","","","Scalar"])", "", 112, 32 * 4},
      {"softmax to float", "aten::_softmax", "[[2,8],[],[]]", R"(["c10::Half","Scalar","Scalar"])",
       R"(["","1","True"])", 80, 16 * 6},
      {"loss reads one of each row", "aten::nll_loss_forward", "[[4,100],[4],[],[],[]]",
       R"(["float","long int","","Scalar","Scalar"])", "", 8, 4 * 8 + 4 * 4},
      {"its gradient writes one of each row", "aten::nll_loss_backward",
       "[[],[4,100],[4],[],[],[],[]]",
       R"(["float","float","long int","","Scalar","Scalar","float"])", "", 0, 4 * 8 + 4 * 4},
      {"squares before their mean", "aten::mse_loss", "[[4,8],[4,8],[]]",
       R"(["float","float","Scalar"])", R"(["","","1"])", 64, 96 * 4},
      {"squares", "aten::mse_loss", "[[4,8],[4,8],[]]", R"(["float","float","Scalar"])",
       R"(["","","0"])", 64, 96 * 4},
      {"what indices pick", "aten::index", "[[4,8],[[3]]]", R"(["float","TensorList"])", "", 0,
       kCostsNo, Missing::kLists},
      {"fill", "aten::fill_", "[[4],[]]", R"(["float","Scalar"])", "", 0, 16},
      {"cast", "aten::copy_", "[[4],[4],[]]", R"(["c10::Half","float","Scalar"])", "", 0, 24},
      {"dropout", "aten::native_dropout", "[[4],[],[]]", R"(["float","Scalar","Scalar"])", "", 8,
       4 * (4 + 4 + 1)},
      {"sum of columns", "aten::sum", "[[4,3],[],[],[]]", R"(["float","ScalarList","Scalar",""])",
       R"(["","[0]","False",""])", 12, (12 + 3) * 4},
      {"sum of all", "aten::sum", "[[4,3],[]]", R"(["int",""])", "", 12, 12 * 4 + 8},
      {"sum in another type", "aten::sum", "[[4,3],[],[],[]]",
       R"(["c10::Half","ScalarList","Scalar","Scalar"])", R"(["","[-1]","False","6"])", 12,
       12 * 2 + 4 * 4},
      {"dimensions were not recorded", "aten::mean", "[[4,3],[],[],[]]",
       R"(["float","ScalarList","Scalar",""])", "", 12, kCostsNo, Missing::kValues},
      {"rows of a table", "aten::embedding", "[[100,8],[2,3],[],[],[]]",
       R"(["float","long int","Scalar","Scalar","Scalar"])", "", 0, 6 * 8 * 4 * 2 + 48},
      {"gradient of a table", "aten::embedding_dense_backward", "[[2,3,8],[2,3],[],[],[]]",
       R"(["float","long int","Scalar","Scalar","Scalar"])", R"(["","","100","-1","False"])", 48,
       48 * 4 + 48 + 48 * 4},
      {"of a table with fewer rows than indices", "aten::embedding_dense_backward",
       "[[2,3,8],[2,3],[],[],[]]", R"(["float","long int","Scalar","Scalar","Scalar"])",
       R"(["","","4","-1","False"])", 48, 48 * 4 + 48 + 32 * 4},
      {"selected", "aten::index_select", "[[100,8],[],[5]]", R"(["float","Scalar","long int"])",
       R"(["","0",""])", 0, 40 * 4 * 2 + 40},
      {"gathered", "aten::gather", "[[9,9],[],[2,3],[]]",
       R"(["float","Scalar","long int","Scalar"])", "", 0, 6 * 4 * 2 + 48},
      {"added where the index says", "aten::scatter_add_", "[[9,9],[],[2,3],[2,3]]",
       R"(["float","Scalar","long int","float"])", "", 6, 48 + 24 + 48},
      {"the copy of the table is a call of its own", "aten::scatter_add", "[[9,9],[],[2,3],[2,3]]",
       R"(["float","Scalar","long int","float"])", "", 6, 48 + 24 + 48},
      {"windows", "aten::max_pool2d_with_indices", "[[1,2,8,8],[],[],[],[],[]]",
       R"(["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])",
       R"(["","[3, 3]","[2, 2]","[1, 1]","[1, 1]","False"])", 32 * 9, 128 * 4 + 32 * 4 + 32 * 8},
      {"lists", "aten::_fused_adamw_", "[[[2,3],[4]],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]",
       R"(["TensorList","TensorList","TensorList","TensorList","TensorList","TensorList","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","",""])",
       "", 140, kCostsNo, Missing::kLists},
      {"lists that were too long to record", "aten::_foreach_add_", "[[],[]]",
       R"(["TensorList","Scalar"])", "", kCostsNo, kCostsNo, Missing::kLists},
  };
  check(cases);
}

TEST(Costs, EveryNameHasOneFormula) {
  std::set<std::string_view> names;
  for (const auto rows :
       {matrix_product_formulas(), convolution_formulas(), attention_formulas(),
        streamed_formulas(), elementwise_formulas(), reduction_formulas(), indexing_formulas(),
        list_formulas(), pooling_formulas(), recurrent_formulas()}) {
    for (const Formula& row : rows) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(find_formula("aten::add_")->name, "add");
  EXPECT_EQ(find_formula("aten::_fused_adamw_")->name, "_fused_adamw");
  EXPECT_EQ(find_formula("aten::"), nullptr);
  EXPECT_EQ(find_formula(""), nullptr);
  EXPECT_EQ(find_formula("_"), nullptr);
}

}  // namespace
}  // namespace stepscope::analysis
