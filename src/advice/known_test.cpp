// What is advised depends on what the program is: no other maker's tools, nothing that is done.
#include "advice/known.h"

#include <string>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

std::string words_of(const Finding& finding) {
  std::string out = finding.title.form + finding.detail.form;
  for (const Change& change : finding.changes) out += change.why + change.code;
  return out;
}

Answers plain_products(std::int64_t ns) {
  Answers answers;
  answers.steps().add("operators", "tensor_cores",
                      {{"rank", 0},
                       {"operators", "matrix products"},
                       {"device_ns", 4 * ns},
                       {"used_ns", 0},
                       {"not_used_ns", 4 * ns},
                       {"plain_ns", 4 * ns},
                       {"unknown_ns", 0}});
  return answers;
}

Answers chain_of_kernels(double compiled) {
  Answers answers = Answers().steps().stall("launch", 1);
  answers.add("program", "ranks", {{"rank", 0}, {"compiled_share", compiled}});
  return answers.add("patterns", "chains",
                     {{"rank", 0},
                      {"kernels", 3},
                      {"count", 40},
                      {"device_ns", 12'000'000},
                      {"saves_least_ns", 4'000'000},
                      {"saves_ns", 8'000'000},
                      {"saves_most_ns", 8'000'000}});
}

TEST(Known, AMakerWithoutTf32IsNotToldOfIt) {
  Answers answers = plain_products(8'000'000);
  answers.add("program", "devices", {{"rank", 0}, {"device", 0}, {"vendor", "amd"}});
  const Advice advice = answers.advise();
  const std::string words = words_of(*finding_of(advice, "precision"));
  EXPECT_EQ(words.find("TF32"), std::string::npos) << words;
  EXPECT_EQ(words.find("tensor cores"), std::string::npos) << words;
  EXPECT_NE(words.find("matrix cores"), std::string::npos) << words;
  EXPECT_NE(words.find("bfloat16"), std::string::npos) << words;
}

TEST(Known, OfAnUnknownGpuItIsSaidWhatTf32Needs) {
  const Advice unknown = plain_products(8'000'000).advise();
  EXPECT_NE(words_of(*finding_of(unknown, "precision")).find("compute capability 8"),
            std::string::npos);
  const Advice known = plain_products(8'000'000).compute_major(9).advise();
  EXPECT_EQ(words_of(*finding_of(known, "precision")).find("compute capability 8"),
            std::string::npos);
}

TEST(Known, ACompiledModelIsNotToldToCompile) {
  const Advice eager = chain_of_kernels(0).advise();
  EXPECT_NE(words_of(*finding_of(eager, "unfused-chains")).find("torch.compile(model)"),
            std::string::npos);
  const Advice compiled = chain_of_kernels(0.8).advise();
  const std::string words = words_of(*finding_of(compiled, "unfused-chains"));
  EXPECT_EQ(words.find("torch.compile(model)"), std::string::npos) << words;
  EXPECT_NE(words.find("graph_breaks"), std::string::npos) << words;
}

Answers odd_products(const char* inputs) {
  return Answers()
      .steps()
      .stall("launch", 1)
      .add("roofline", "operators",
           {{"rank", 0},
            {"operator", "aten::bmm"},
            {"inputs", inputs},
            {"family", "matrix product"},
            {"arithmetic", "bf16"},
            {"tflop_per_second", 100.0},
            {"roof_ns", 4'000'000},
            {"device_ns", 12'000'000}});
}

// 197 places of a picture are no vocabulary, and 50,257 rows of an embedding are.
TEST(Known, AnOddSizeIsCalledWhatShapesProveItToBe) {
  Answers patches = odd_products("768×197×64, 768×64×197");
  patches.add("attention", "pieces", {{"rank", 0}, {"scores", "64×12×197×197"}});
  const Advice of_patches = patches.advise();
  const std::string patch_words = words_of(*finding_of(of_patches, "odd-shapes"));
  EXPECT_EQ(patch_words.find("vocabulary"), std::string::npos) << patch_words;
  EXPECT_NE(patch_words.find("scaled_dot_product_attention"), std::string::npos) << patch_words;

  Answers words = odd_products("4096×768, 768×50257");
  words.add("program", "sizes", {{"rank", 0}, {"size", 50257}, {"is", "rows of an embedding"}});
  words.add("program", "sizes", {{"rank", 0}, {"size", 50257}, {"is", "classes of a loss"}});
  const Advice of_words = words.advise();
  EXPECT_NE(words_of(*finding_of(of_words, "odd-shapes")).find("vocabulary"), std::string::npos);

  const Advice unknown = odd_products("4096×768, 768×1001").advise();
  EXPECT_EQ(words_of(*finding_of(unknown, "odd-shapes")).find("vocabulary"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::advice
