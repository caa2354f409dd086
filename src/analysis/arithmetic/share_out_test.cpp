#include "analysis/arithmetic/share_out.h"

#include <vector>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

using Lengths = std::vector<base::Nanos>;

TEST(ShareOut, AMomentGoesToTheFirstRoleThatIsOn) {
  const Intervals first = {{10, 20}, {40, 50}};
  const Intervals none;
  const Intervals second = {{0, 15}, {18, 45}};
  const Intervals third = {{5, 60}};
  const std::vector<std::span<const Interval>> roles = {first, none, second, third};
  const std::vector<Interval> stretches = {{0, 30}, {30, 70}};
  const auto parts = share_out(roles, stretches);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0], (Lengths{10, 0, 20, 0, 0}));
  EXPECT_EQ(parts[1], (Lengths{10, 0, 10, 10, 10}));
}

TEST(ShareOut, WithoutRolesAllIsRest) {
  const std::vector<Interval> stretches = {{3, 10}, {10, 10}};
  EXPECT_EQ(share_out({}, stretches), (std::vector<Lengths>{{7}, {0}}));
}

}  // namespace
}  // namespace stepscope::analysis
