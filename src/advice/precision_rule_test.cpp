// Matrix products that miss the tensor cores, and what only looks like them.
#include <string>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

Answers products(std::int64_t used_ns, std::int64_t plain_ns, std::int64_t turned_ns = 0) {
  Answers answers;
  answers.steps().add("operators", "tensor_cores",
                      {{"rank", 0},
                       {"operators", "matrix products"},
                       {"device_ns", 4 * (used_ns + plain_ns + turned_ns)},
                       {"used_ns", 4 * used_ns},
                       {"not_used_ns", 4 * (plain_ns + turned_ns)},
                       {"plain_ns", 4 * plain_ns},
                       {"unknown_ns", 0}});
  return answers;
}

TEST(Precision, ProductsThatMissTheTensorCores) {
  const Advice advice = products(0, 8'000'000).advise();
  const Finding* finding = finding_of(advice, "precision");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_EQ(finding->gain->low, 6'000'000);
  EXPECT_EQ(finding->gain->high, 7'550'000);
  EXPECT_EQ(finding_of(products(8'000'000, 900'000).advise(), "precision"), nullptr);
}

// Kernels on several streams add up to more than the step: no share of it.
TEST(Precision, OfMoreThanAStepIsNoShare) {
  const Advice advice = products(0, 12'000'000).advise();
  const Finding* finding = finding_of(advice, "precision");
  EXPECT_TRUE(finding->title.form.ends_with("{} in a step of {}")) << finding->title.form;
  EXPECT_NE(finding->detail.form.find("at the same time"), std::string::npos);
}

// A recurrent cell, some of whose kernels have names that say nothing, is shown and has its switch.
TEST(Precision, NamesRecurrentCells) {
  Answers answers = products(0, 8'000'000);
  answers.add("operators", "operators",
              {{"rank", 0},
               {"name", "aten::_cudnn_rnn"},
               {"device_self_ns", 28'000'000},
               {"tensor_cores", "unknown"}});
  answers.add(
      "operators", "operators",
      {{"rank", 0}, {"name", "aten::mm"}, {"device_self_ns", 4'000'000}, {"tensor_cores", "no"}});
  answers.add("operators", "operators",
              {{"rank", 0},
               {"name", "aten::mystery"},
               {"device_self_ns", 4'000'000},
               {"tensor_cores", "unknown"}});
  const Advice advice = answers.advise();
  const Finding* finding = finding_of(advice, "precision");
  EXPECT_TRUE(finding->title.form.starts_with("Matrix products"));
  EXPECT_EQ(finding->evidence.size(), 2U);
  const std::string& code = finding->changes.front().code;
  EXPECT_NE(code.find("cudnn.allow_tf32"), std::string::npos);
  EXPECT_NE(code.find("matmul_precision"), std::string::npos);
}

// Another precision has other algorithms, without what this one does around the products.
TEST(Precision, WhatIsAroundTheProductsMayGoWithThem) {
  const Advice advice = products(0, 4'000'000, 2'000'000).advise();
  EXPECT_EQ(finding_of(advice, "precision")->gain->low, 3'000'000);
  EXPECT_EQ(finding_of(advice, "precision")->gain->high, 3'750'000 + 2'000'000 + 50'000);
}

// Mixed precision leaves norms, softmax, losses and the optimizer in 32 bits; all else moves half.
TEST(Precision, WhatStaysWideIsNotGained) {
  const auto with = [](std::string_view name) {
    Answers answers = products(0, 4'000'000);
    answers.add("operators", "tensor_cores",
                {{"rank", 0}, {"operators", "others"}, {"device_ns", 12'000'000}});
    answers.add("operators", "operators",
                {{"rank", 0}, {"name", name}, {"device_self_ns", 8'000'000}});
    return answers.advise();
  };
  const Advice all = with("aten::gelu");
  EXPECT_EQ(finding_of(all, "precision")->gain->high, 3'750'000 + 1'500'000 + 50'000);
  const Advice norms = with("aten::native_layer_norm");
  const Finding* finding = finding_of(norms, "precision");
  EXPECT_EQ(finding->gain->high, 3'750'000 + 500'000 + 50'000);
  EXPECT_NE(finding->detail.form.find("leaves in 32 bits"), std::string::npos);
  EXPECT_EQ(finding_of(with("aten::cudnn_batch_norm"), "precision")->gain->high,
            3'750'000 + 1'500'000 + 50'000);
}

// Convolutions in bf16 whose cuDNN turns pictures round: nothing there is in 32 bits.
TEST(Precision, IsNotWhatTurnsLayoutsRound) {
  EXPECT_EQ(finding_of(products(5'000'000, 0, 4'000'000).advise(), "precision"), nullptr);
  const Advice both = products(1'000'000, 2'000'000, 4'000'000).advise();
  EXPECT_EQ(finding_of(both, "precision")->gain->low, 1'500'000);
}

TEST(Precision, AdvisesWhatTheDeviceHas) {
  const auto codes = [](const char* op, std::int64_t compute) {
    Answers answers = products(0, 8'000'000);
    answers.add("operators", "operators",
                {{"rank", 0}, {"name", op}, {"device_self_ns", 4}, {"tensor_cores", "no"}});
    answers.compute_major(compute);
    std::string out;
    const Advice advice = answers.advise();
    for (const Change& change : finding_of(advice, "precision")->changes) out += change.code;
    return out;
  };
  const std::string volta = codes("aten::mm", 7);
  EXPECT_NE(volta.find("float16"), std::string::npos);
  EXPECT_EQ(volta.find("bfloat16"), std::string::npos);
  EXPECT_EQ(volta.find("matmul_precision"), std::string::npos);
  EXPECT_NE(codes("aten::mm", 8).find("matmul_precision"), std::string::npos);
  EXPECT_NE(codes("aten::_cudnn_rnn_backward", 8).find("cudnn.allow_tf32"), std::string::npos);
  const std::string cudnn = codes("aten::cudnn_convolution", 8);
  EXPECT_NE(cudnn.find("cudnn.allow_tf32"), std::string::npos);
  EXPECT_EQ(cudnn.find("matmul_precision"), std::string::npos);
}

TEST(Settle, ACriticalFindingComesBeforeALargerGain) {
  // 4.5 ms of products are a warning of up to 4.3 ms; 2 ms of waiting for data are critical.
  Answers answers = products(0, 4'500'000);
  answers.stall("input", 2'000'000);
  answers.add("dataloader", "loaders", {{"rank", 0}, {"loader", "x"}, {"sum_ns", 1}});
  const Advice advice = answers.advise();
  ASSERT_EQ(advice.findings.size(), 2u);
  EXPECT_EQ(advice.findings[0].rule, "input-bound");
  EXPECT_EQ(advice.findings[0].level, Level::kCritical);
  EXPECT_LT(advice.findings[0].gain->middle(), advice.findings[1].gain->middle());
}

// Gradients stay in 32 bits: what communicates moves as many bytes in any case.
TEST(Precision, DoesNotCountCommunicationAsWorkIn16Bits) {
  const auto high = [](std::int64_t computing_ns) {
    Answers answers;
    answers.steps()
        .add("operators", "tensor_cores",
             {{"rank", 0},
              {"operators", "matrix products"},
              {"device_ns", 16'000'000},
              {"used_ns", 0},
              {"not_used_ns", 16'000'000},
              {"plain_ns", 16'000'000},
              {"unknown_ns", 0}})
        .add("operators", "tensor_cores",
             {{"rank", 0}, {"operators", "others"}, {"device_ns", 16'000'000}})
        .add("overlap", "devices", {{"rank", 0}, {"compute_ns", 4 * computing_ns}});
    return finding_of(answers.advise(), "precision")->gain->high;
  };
  EXPECT_EQ(high(8'000'000), 3'750'000 + 2'000'000 + 50'000);
  EXPECT_EQ(high(5'000'000), 3'750'000 + 500'000 + 50'000);
}

}  // namespace
}  // namespace stepscope::advice
