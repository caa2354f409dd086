#include <vector>

#include <gtest/gtest.h>

#include "analysis/operators/op_calls.h"
#include "analysis/recording_for_tests.h"

namespace stepscope::analysis {
namespace {

using List = std::vector<base::Nanos>;

struct Times {
  List self, runtime;
};
Times times_of(Recording& recording) {
  const WindowView& window = recording.view().windows[0];
  const OpHostTimes times = op_host_times(*window.trace, op_calls(window));
  const auto list = [](std::span<const base::Nanos> column) {
    return List(column.begin(), column.end());
  };
  return {list(times.self.span()), list(times.runtime.span())};
}

TEST(OpTimes, SelfIsWithoutOperatorsBelowAndWithTheRuntime) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 40);
  recording.op("c", 20, 30);
  recording.span("cuda_runtime", "cudaLaunchKernel", 50, 57);
  recording.span("cuda_driver", "cuLaunchKernel", 51, 55);  // within the call above: once
  const Times times = times_of(recording);
  EXPECT_EQ(times.self, (List{70, 20, 10}));
  EXPECT_EQ(times.runtime, (List{7, 0, 0}));
}

TEST(OpTimes, AnnotationsAndFramesBetweenAreNoOperators) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.span("user_annotation", "mine", 10, 90);
  recording.span("python_function", "f", 20, 80);
  recording.op("b", 30, 60);
  recording.span("cuda_runtime", "cudaLaunchKernel", 65, 70);  // called by the frame, within a
  const Times times = times_of(recording);
  EXPECT_EQ(times.self, (List{70, 30}));
  EXPECT_EQ(times.runtime, (List{5, 0}));
}

TEST(OpTimes, ChildrenThatOverlapOrOutliveTakeNoMoreThanThereIs) {
  Recording recording;
  recording.op("a", 0, 5000);
  recording.op("b", 1000, 3000);
  recording.op("c", 2000, 5500);  // overlaps b, outlives a
  EXPECT_EQ(times_of(recording).self, (List{1000, 2000, 3500}));
}

TEST(OpTimes, ThreadsAreApart) {
  Recording recording;
  recording.op("a", 0, 100, "1");
  recording.op("b", 10, 40, "2");
  EXPECT_EQ(times_of(recording).self, (List{100, 30}));
}

TEST(Outermost, CountsNestedCallsOfOneNameOnce) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 50);
  recording.op("a", 20, 30);
  recording.op("b", 60, 70);
  recording.op("a", 200, 210);
  const OpCalls& ops = op_calls(recording.view().windows[0]);
  const std::vector<std::uint32_t> key = {0, 1, 0, 1, 0};
  EXPECT_EQ(outermost(ops, key, 2), (std::vector<bool>{true, true, false, true, true}));
}

}  // namespace
}  // namespace stepscope::analysis
