#include "analysis/operators/op_calls.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/recording_for_tests.h"

namespace stepscope::analysis {
namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint32_t kNone = OpCall::kNone;

Numbers parents(const OpCalls& ops) {
  Numbers out;
  out.reserve(ops.calls.size());
  for (const OpCall& call : ops.calls) out.push_back(call.parent);
  return out;
}

TEST(OpCalls, AnnotationsAndFramesBetweenAreNoOperators) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.span("user_annotation", "mine", 10, 90);
  recording.span("python_function", "f", 20, 80);
  recording.op("b", 30, 60);
  recording.op("c", 40, 50);
  const WindowView& window = recording.view().windows[0];
  const OpCalls& ops = op_calls(window);
  EXPECT_EQ(parents(ops), (Numbers{kNone, 0, 1}));
  for (std::uint32_t i = 0; i < ops.calls.size(); ++i) EXPECT_EQ(ops.find(ops.calls[i].row), i);
}

TEST(OpCalls, ThreadsAreApart) {
  Recording recording;
  recording.op("a", 0, 100, "1");
  recording.op("b", 10, 40, "2");
  EXPECT_EQ(parents(op_calls(recording.view().windows[0])), (Numbers{kNone, kNone}));
}

TEST(OpCalls, WorkBelongsToTheInnermost) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 40);
  recording.launch(20, 200, 207, "cuda_driver", "cuLaunchKernelEx");
  recording.launch(50, 210, 221);
  recording.launch(60, 230, 230);  // lasts nothing
  EXPECT_EQ(op_calls(recording.view().windows[0]).of_work, (Numbers{1, 0, 0}));
}

TEST(OpCalls, WorkOfNoOperatorSaysWhy) {
  Recording recording;
  recording.span("user_annotation", "mine", 0, 100);
  recording.launch(10, 200, 201);
  recording.launch(20, 210, 211, "cuda_runtime", "cudaGraphLaunch");
  recording.kernel(220, 221);
  const WindowView& window = recording.view().windows[0];
  const OpCalls& ops = op_calls(window);
  ASSERT_EQ(window.work.size(), 3U);
  const std::vector<NoOperator> expected = {NoOperator::kOutside, NoOperator::kGraph,
                                            NoOperator::kNotRecorded};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ops.of_work[i], kNone);
    EXPECT_EQ(why_no_operator(window, window.work[i]), expected[i]) << i;
  }
}

TEST(OpCalls, WithoutALaunchTheExternalIdNamesTheOperator) {
  Recording recording;
  recording.op("early", 0, 10, "1", 5);
  recording.op("late", 500, 510, "1", 5);
  recording.kernel(100, 107, -1, 5);
  recording.kernel(120, 121, -1, 6);  // an id of no operator
  EXPECT_EQ(op_calls(recording.view().windows[0]).of_work, (Numbers{0, kNone}));
}

TEST(OpCalls, StepsNotAskedForAreNotCounted) {
  Recording recording;
  recording.span("user_annotation", "ProfilerStep#1", 0, 100);
  recording.op("a", 10, 20);
  recording.launch(15, 30, 37);
  recording.span("user_annotation", "ProfilerStep#2", 100, 200);
  recording.op("a", 110, 120);
  recording.launch(115, 130, 139);
  const WindowView& window = recording.view({.ranks = {}, .steps = {2}}).windows[0];
  const OpCalls& ops = op_calls(window);
  EXPECT_FALSE(ops.counts(window, 0));
  EXPECT_TRUE(ops.counts(window, 1));
  EXPECT_EQ(ops.of_work, (Numbers{0, 1}));
}

TEST(OpCalls, AreMadeOnce) {
  Recording recording;
  recording.op("a", 0, 10);
  const WindowView& window = recording.view().windows[0];
  EXPECT_EQ(&op_calls(window), &op_calls(window));
  EXPECT_EQ(&op_marks(window), &op_marks(window));
}

}  // namespace
}  // namespace stepscope::analysis
