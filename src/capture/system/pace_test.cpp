// How often a slow source may be asked.
#include "capture/system/pace.h"

#include <gtest/gtest.h>

namespace stepscope::capture {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Of samples that cost this much each: the share of a core that is taken when those beyond the
// allowance are left out.
double taken(std::int64_t interval_ns, std::int64_t cost_ns) {
  Allowance allowance(interval_ns);
  std::int64_t now = 5 * kSecond, used = 77 * kSecond;
  const std::int64_t before = used, moments = 4'000;
  for (std::int64_t i = 0; i < moments; ++i) {
    allowance.pass(now, used);
    if (!allowance.is_overdrawn()) used += cost_ns;
    now += interval_ns;
  }
  return static_cast<double>(used - before) / static_cast<double>(moments * interval_ns);
}

TEST(Allowance, WhatIsCheapIsNeverLeftOut) {
  EXPECT_DOUBLE_EQ(taken(kSecond, 1'400'000), 0.0014);
  EXPECT_DOUBLE_EQ(taken(kSecond / 10, 1'400'000), 0.014);
}

TEST(Allowance, WhatIsDearComesSeldom) {
  EXPECT_NEAR(taken(kSecond, 3'000'000), 0.0015, 0.0001);
  // A debt is 10 ms at most, which takes 7 s to pay back: every eighth comes.
  EXPECT_DOUBLE_EQ(taken(kSecond, 40'000'000), 0.005);
  EXPECT_NEAR(taken(kSecond / 10, 9'000'000), 0.015, 0.001);
}

}  // namespace

}  // namespace stepscope::capture
