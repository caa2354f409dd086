#include "analysis/operators/op_groups.h"

#include <vector>

#include <gtest/gtest.h>

#include "analysis/recording_for_tests.h"

namespace stepscope::analysis {
namespace {

using List = std::vector<base::Nanos>;

List each(const std::vector<OpSums>& sums, base::Nanos OpSums::* what) {
  List out;
  out.reserve(sums.size());
  for (const OpSums& sum : sums) out.push_back(sum.*what);
  return out;
}

TEST(OpGroups, DeviceTimeBelongsToTheInnermostAndToAllAround) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 40);
  recording.launch(20, 200, 207, "cuda_driver", "cuLaunchKernelEx");
  recording.launch(50, 210, 221);
  recording.launch(60, 230, 230);  // lasts nothing
  const OpCosts costs(recording.view().windows[0]);
  const std::vector<OpSums> sums = costs.by_key(std::vector<std::uint32_t>{0, 1}, 2);
  EXPECT_EQ(each(sums, &OpSums::device_self), (List{11, 7}));
  EXPECT_EQ(each(sums, &OpSums::device_total), (List{18, 7}));
  EXPECT_EQ(sums[0].work, 2U);
}

TEST(OpGroups, TotalsOfAKeyCountNestedCallsOnce) {
  Recording recording;
  recording.op("a", 0, 100);
  recording.op("b", 10, 60);
  recording.op("a", 20, 50);
  recording.launch(30, 200, 207);
  const OpCosts costs(recording.view().windows[0]);
  const std::vector<OpSums> sums = costs.by_key(std::vector<std::uint32_t>{0, 1, 0}, 2);
  EXPECT_EQ(each(sums, &OpSums::device_self), (List{7, 0}));
  EXPECT_EQ(each(sums, &OpSums::device_total), (List{7, 7}));
  EXPECT_EQ(each(sums, &OpSums::host_total), (List{100, 50}));
  EXPECT_EQ(each(sums, &OpSums::host_self), (List{80, 20}));
}

TEST(OpGroups, StepsNotAskedForAreNotCounted) {
  Recording recording;
  recording.span("user_annotation", "ProfilerStep#1", 0, 100);
  recording.op("a", 10, 20);
  recording.launch(15, 30, 37);
  recording.span("user_annotation", "ProfilerStep#2", 100, 200);
  recording.op("a", 110, 125);
  recording.launch(115, 130, 139);
  const OpCosts costs(recording.view({.ranks = {}, .steps = {2}}).windows[0]);
  const std::vector<OpSums> sums = costs.by_key(std::vector<std::uint32_t>{0, 1}, 2);
  EXPECT_EQ(each(sums, &OpSums::device_self), (List{0, 9}));
  EXPECT_EQ(each(sums, &OpSums::host_total), (List{0, 15}));
  EXPECT_EQ(sums[0].calls, 0U);
  EXPECT_EQ(sums[1].calls, 1U);
}

}  // namespace
}  // namespace stepscope::analysis
