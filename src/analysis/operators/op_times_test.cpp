#include "analysis/operators/op_times.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/recording_for_tests.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

const OpTimes& times_of(Recording& recording, const Selection& selection = {}) {
  return op_times(recording.view(selection).windows[0]);
}

std::vector<Nanos> each(const OpTimes& times, Nanos OpCall::* what) {
  std::vector<Nanos> out;
  out.reserve(times.calls.size());
  for (const OpCall& call : times.calls) out.push_back(call.*what);
  return out;
}
using List = std::vector<Nanos>;

TEST(OpTimes, SelfIsWithoutOperatorsBelowAndWithTheRuntime) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 40);
  recording.op("c", 20, 30);
  recording.span("cuda_runtime", "cudaLaunchKernel", 50, 57);
  recording.span("cuda_driver", "cuLaunchKernel", 51, 55);  // within the call above: once
  const OpTimes& times = times_of(recording);
  EXPECT_EQ(each(times, &OpCall::host_total), (List{100, 30, 10}));
  EXPECT_EQ(each(times, &OpCall::host_self), (List{70, 20, 10}));
  EXPECT_EQ(each(times, &OpCall::runtime), (List{7, 0, 0}));
  EXPECT_EQ(times.calls[0].parent, OpCall::kNone);
  EXPECT_EQ(times.calls[1].parent, 0U);
  EXPECT_EQ(times.calls[2].parent, 1U);
}

TEST(OpTimes, AnnotationsAndFramesBetweenAreNoOperators) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.span("user_annotation", "mine", 10, 90);
  recording.span("python_function", "f", 20, 80);
  recording.op("b", 30, 60);
  const OpTimes& times = times_of(recording);
  EXPECT_EQ(each(times, &OpCall::host_self), (List{70, 30}));
}

TEST(OpTimes, ChildrenThatOverlapOrOutliveTakeNoMoreThanThereIs) {
  Recording recording;
  recording.op("a", 0, 5000);
  recording.op("b", 1000, 3000);
  recording.op("c", 2000, 5500);  // overlaps b, outlives a
  const OpTimes& times = times_of(recording);
  EXPECT_EQ(times.calls[2].parent, 0U);
  EXPECT_EQ(each(times, &OpCall::host_self), (List{1000, 2000, 3500}));
}

TEST(OpTimes, ThreadsAreApart) {
  Recording recording;
  recording.op("a", 0, 100, "1");
  recording.op("b", 10, 40, "2");
  const OpTimes& times = times_of(recording);
  EXPECT_EQ(each(times, &OpCall::host_self), (List{100, 30}));
  EXPECT_EQ(times.calls[1].parent, OpCall::kNone);
}

TEST(OpTimes, DeviceTimeBelongsToTheInnermostAndToAllAround) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 40);
  recording.launch(20, 200, 207, "cuda_driver", "cuLaunchKernelEx");
  recording.launch(50, 210, 221);
  recording.launch(60, 230, 230);  // lasts nothing
  const OpTimes& times = times_of(recording);
  EXPECT_EQ(each(times, &OpCall::device_self), (List{11, 7}));
  EXPECT_EQ(each(times, &OpCall::device_total), (List{18, 7}));
  EXPECT_EQ(times.call_of_work, (std::vector<std::uint32_t>{1, 0, 0}));
}

TEST(OpTimes, WorkOfNoOperatorSaysWhy) {
  Recording recording;
  recording.span("user_annotation", "mine", 0, 100);
  recording.launch(10, 200, 201);
  recording.launch(20, 210, 211, "cuda_runtime", "cudaGraphLaunch");
  recording.kernel(220, 221);
  const WindowView& window = recording.view().windows[0];
  const OpTimes& times = op_times(window);
  ASSERT_EQ(window.work.size(), 3U);
  const std::vector<NoOperator> expected = {NoOperator::kOutside, NoOperator::kGraph,
                                            NoOperator::kNotRecorded};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(times.call_of_work[i], OpCall::kNone);
    EXPECT_EQ(why_no_operator(window, window.work[i]), expected[i]) << i;
  }
}

TEST(OpTimes, WithoutALaunchTheExternalIdNamesTheOperator) {
  Recording recording;
  recording.op("early", 0, 10, "1", 5);
  recording.op("late", 500, 510, "1", 5);
  recording.kernel(100, 107, -1, 5);
  recording.kernel(120, 121, -1, 6);  // an id nobody has
  const OpTimes& times = times_of(recording);
  EXPECT_EQ(times.call_of_work, (std::vector<std::uint32_t>{0, OpCall::kNone}));
  EXPECT_EQ(each(times, &OpCall::device_self), (List{7, 0}));
}

TEST(OpTimes, StepsNotAskedForAreNotCounted) {
  Recording recording;
  recording.span("user_annotation", "ProfilerStep#1", 0, 100);
  recording.op("a", 10, 20);
  recording.launch(15, 30, 37);
  recording.span("user_annotation", "ProfilerStep#2", 100, 200);
  recording.op("a", 110, 120);
  recording.launch(115, 130, 139);
  const OpTimes& times = times_of(recording, {.ranks = {}, .steps = {2}});
  EXPECT_EQ(each(times, &OpCall::device_self), (List{0, 9}));
  EXPECT_FALSE(times.calls[0].counted);
  EXPECT_TRUE(times.calls[1].counted);
  EXPECT_EQ(times.call_of_work, (std::vector<std::uint32_t>{0, 1}));
}

TEST(OpTimes, AreMadeOnce) {
  Recording recording;
  recording.op("a", 0, 10);
  const WindowView& window = recording.view().windows[0];
  EXPECT_EQ(&op_times(window), &op_times(window));
}

TEST(Outermost, CountsNestedCallsOfOneNameOnce) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 50);
  recording.op("a", 20, 30);
  recording.op("b", 60, 70);
  recording.op("a", 200, 210);
  const OpTimes& times = times_of(recording);
  const std::vector<std::uint32_t> key = {0, 1, 0, 1, 0};
  EXPECT_EQ(outermost(times, key, 2), (std::vector<bool>{true, true, false, true, true}));
}

}  // namespace
}  // namespace stepscope::analysis
