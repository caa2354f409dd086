#include "analysis/operators/op_inputs.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;

TEST(OpInputs, TensorsListsScalarsAndNothing) {
  const OpInputs read =
      read_inputs(R"([[8,128],[[4,2],[3]],[],[],[],[]])",
                  R"(["c10::BFloat16","TensorList","Scalar","ScalarList","","float"])",
                  R"([[128,1],[[2,1],[1]],[],[],[],[]])", R"(["","","1","[2, 2]","",""])");
  ASSERT_TRUE(read.readable);
  ASSERT_EQ(read.inputs.size(), 6U);
  EXPECT_EQ(read.inputs[0].kind, InputKind::kTensor);
  EXPECT_EQ(read.inputs[0].tensor.dims, Dims({8, 128}));
  EXPECT_EQ(read.inputs[0].tensor.strides, Dims({128, 1}));
  EXPECT_EQ(read.inputs[0].tensor.dtype, Dtype::kBfloat16);
  EXPECT_EQ(read.inputs[1].kind, InputKind::kTensorList);
  ASSERT_EQ(read.inputs[1].list.size(), 2U);
  EXPECT_EQ(read.inputs[1].list[1].dims, Dims({3}));
  EXPECT_EQ(read.inputs[1].list[0].strides, Dims({2, 1}));
  EXPECT_EQ(read.inputs[2].kind, InputKind::kScalar);
  EXPECT_EQ(read.inputs[2].value, "1");
  EXPECT_EQ(read.inputs[3].kind, InputKind::kList);
  EXPECT_EQ(whole_numbers(read.inputs[3].value), Dims({2, 2}));
  EXPECT_EQ(read.inputs[4].kind, InputKind::kNone);
  EXPECT_EQ(read.inputs[5].kind, InputKind::kTensor);  // of no dimension: one number
}

TEST(OpInputs, OlderTracesHaveNeitherStridesNorValues) {
  const OpInputs read = read_inputs(R"([[2,3],[],[]])", R"(["long","GenericList","Bool"])", "", "");
  ASSERT_TRUE(read.readable);
  EXPECT_TRUE(read.inputs[0].tensor.strides.empty());
  EXPECT_EQ(read.inputs[0].tensor.dtype, Dtype::kInt64);
  EXPECT_EQ(read.inputs[1].kind, InputKind::kList);
  EXPECT_EQ(read.inputs[2].kind, InputKind::kScalar);
  EXPECT_TRUE(read.inputs[2].value.empty());
}

TEST(OpInputs, WhatDoesNotFitIsNotReadable) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"[]", ""},
      {"[[1]]", R"(["float","float"])"},
      {"[[1]", R"(["float"])"},
      {"[[1]]x", R"(["float"])"},
      {"[[[[1]]]]", R"(["float"])"},
      {"[[1.5]]", R"(["float"])"},
      {"[[99999999999999999999]]", R"(["float"])"},
      {"[1]", R"(["float"])"},
      {"[[1]]", R"(["float)"},
      {"[[1]]", R"([1])"},
      {R"({"a":1})", R"(["float"])"},
  };
  for (const auto& [dims, types] : cases) {
    SCOPED_TRACE(dims);
    EXPECT_FALSE(read_inputs(dims, types, "", "").readable);
  }
  // However deep, the reader does not go along.
  EXPECT_FALSE(read_inputs(std::string(1'000'000, '['), "[]", "", "").readable);
}

TEST(OpInputs, NegativeSizesAndShapesOfNothingAreUnknown) {
  const OpInputs read = read_inputs(R"([[-1,2],[3],[[1]]])", R"(["float","","float"])", "", "");
  ASSERT_TRUE(read.readable);
  for (const Input& input : read.inputs) EXPECT_EQ(input.kind, InputKind::kUnknown);
}

TEST(OpInputs, StridesOfAnotherLengthAreNotTaken) {
  const OpInputs read = read_inputs("[[2,3]]", R"(["float"])", "[[1]]", "");
  EXPECT_TRUE(read.inputs[0].tensor.strides.empty());
}

TEST(OpInputs, TypeNames) {
  EXPECT_EQ(dtype_of("short unsigned int"), Dtype::kInt16);
  EXPECT_EQ(dtype_of("long unsigned int"), Dtype::kInt64);
  EXPECT_EQ(dtype_of("c10::Half"), Dtype::kHalf);
  EXPECT_EQ(dtype_of("c10::Float8_e4m3fn"), Dtype::kFp8);
  EXPECT_EQ(dtype_of("long int"), Dtype::kInt64);
  EXPECT_EQ(dtype_of("c10::complex<float>"), Dtype::kComplexFloat);
  EXPECT_EQ(dtype_of("nested tensor"), Dtype::kUnknown);
  EXPECT_EQ(dtype_of("c10::quint8"), Dtype::kUnknown);
  EXPECT_EQ(bytes_of(Dtype::kComplexDouble), 16);
  EXPECT_EQ(bytes_of(Dtype::kBfloat16), 2);
  EXPECT_EQ(name_of(Dtype::kBfloat16), "bfloat16");
}

TEST(OpInputs, Values) {
  EXPECT_EQ(whole_number("12"), 12);
  EXPECT_EQ(whole_number("1.5"), std::nullopt);
  EXPECT_EQ(whole_number(""), std::nullopt);
  EXPECT_EQ(whole_numbers("[]"), Dims());
  EXPECT_EQ(whole_numbers("[-1, 2]"), Dims({-1, 2}));
  EXPECT_EQ(whole_numbers("same"), std::nullopt);
  EXPECT_EQ(truth("True"), true);
  EXPECT_EQ(truth("1"), std::nullopt);
  EXPECT_EQ(truths("[True, False, True]"), std::vector<bool>({true, false, true}));
  EXPECT_EQ(truths("[1]"), std::nullopt);
}

}  // namespace
}  // namespace stepscope::analysis
