// What operators were called with: each call once, however it is written, and what is odd in it.
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/kineto/read_for_tests.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Note;
using testing::ElementsAre;

// Numbered by first appearance, equal whatever the spaces, whoever read them.
TEST(KinetoInputs, EqualInputsAreOneSignature) {
  const std::string spaced = R"("Input Dims": [ [2, 3], [] ], "Input type": ["float", "Scalar"])";
  const std::string tight = R"("Input type":["float","Scalar"],"Input Dims":[[2,3],[]])";
  const std::string other = R"("Input Dims":[[2,3]],"Concrete Inputs":["a, b"],"Ev Idx":4)";
  std::string text = "[" + event_text("cpu_op", 1, 1, R"("External id":1)");
  for (int i = 0; i < 40; ++i) {
    text += event_text("cpu_op", 1, 10 * i + 10, i % 2 == 0 ? spaced : tight);
    text += event_text("user_annotation", 1, 10 * i + 15, other);
  }
  for (const bool reference_reader : {true, false}) {
    for (const std::size_t block_bytes : {std::size_t{1} << 20, std::size_t{256}}) {
      SCOPED_TRACE(std::to_string(reference_reader) + ", " + std::to_string(block_bytes));
      const auto trace = trace_of(text + kA + "]", reference_reader, block_bytes);
      ASSERT_TRUE(trace) << trace.error().message;
      ASSERT_EQ(trace->signatures().size(), 2);
      const trace::Signature& first = trace->signatures()[0];
      EXPECT_EQ(trace->text(first.dims), "[[2,3],[]]");
      EXPECT_EQ(trace->text(first.types), R"(["float","Scalar"])");
      EXPECT_EQ(first.strides, base::kNoString);
      const trace::Signature& second = trace->signatures()[1];
      EXPECT_EQ(trace->text(second.concrete), R"(["a, b"])");
      EXPECT_EQ(second.types, base::kNoString);
      std::vector<std::size_t> uses(2);
      trace->ops().rows.for_each([&](trace::Row row, std::uint32_t entry) {
        const trace::SignatureId id = trace->ops().signature[entry];
        const bool is_op = trace->kind()[row] == trace::Kind::kCpuOp;
        const bool is_first = trace->start()[row] == 1000;
        EXPECT_EQ(id, is_first ? trace::kNoSignature : is_op ? 0 : 1);
        if (id < uses.size()) ++uses[id];
      });
      EXPECT_THAT(uses, ElementsAre(40, 40));
    }
  }
}

// What is in them is not asked for, so the fast reader looks only at those it has not met.
TEST(KinetoInputs, OddThingsInInputsAreCountedInEachEvent) {
  const struct {
    const char* dims;
    Note note;
  } cases[] = {{"[[2,3],[e12]]", Note::kBareWord}, {"[[2,3],[nul]]", Note::kBareWord},
               {"[[2,-],[]]", Note::kBareWord},    {"[[2,3],,[]]", Note::kStrayComma},
               {"[[2,3],[],]", Note::kStrayComma}, {"[[2 3],[]]", Note::kMissingComma},
               {"[[2,3][]]", Note::kMissingComma}, {"[[2,3],[]\"a\"]", Note::kMissingComma}};
  for (const auto& c : cases) {
    std::string text = "[";
    for (int i = 0; i < 30; ++i) {
      text += event_text("cpu_op", 1, 10 * i, std::string(R"("Input Dims":)") + c.dims);
    }
    for (const bool reference_reader : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, {}", c.dims, reference_reader));
      const auto trace = trace_of(text + kA + "]", reference_reader, std::size_t{1} << 20);
      ASSERT_TRUE(trace) << trace.error().message;
      EXPECT_EQ(trace->size(), 31);
      const std::vector<Odd> odd = odd_things(trace->log());
      ASSERT_EQ(odd.size(), 1);
      EXPECT_EQ(odd.front().note, c.note);
      EXPECT_EQ(odd.front().count, 30);
    }
  }
}

// Whatever its category is written like, and only if it is an operator or an annotation.
TEST(KinetoInputs, OnlyOperatorsAndAnnotationsHaveInputs) {
  const auto inputs = [](int n) { return "\"Input Dims\":[[" + std::to_string(n) + "]]"; };
  const std::string text = "[" + event_text("", 1, 10, inputs(1)) +
                           event_text("kernel", 1, 20, inputs(2)) +
                           event_text(R"(\u0063pu_op)", 1, 30, inputs(3)) +
                           event_text("cpu_op", 1, 40, inputs(1)) + kA + "]";
  for (const bool reference_reader : {true, false}) {
    const auto trace = trace_of(text, reference_reader, std::size_t{1} << 20);
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->signatures().size(), 2) << reference_reader;
    EXPECT_EQ(trace->text(trace->signatures()[0].dims), "[[3]]");
    EXPECT_EQ(trace->text(trace->signatures()[1].dims), "[[1]]");
    EXPECT_EQ(trace->ops().rows.size(), 2);
  }
}

}  // namespace
}  // namespace stepscope::ingest::kineto
