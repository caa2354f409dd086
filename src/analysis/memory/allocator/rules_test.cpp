#include "analysis/memory/allocator/rules.h"

#include <gtest/gtest.h>

namespace stepscope::analysis::allocator {
namespace {

TEST(Rules, RequestsAreRoundedTo512Bytes) {
  const Rules rules;
  EXPECT_EQ(rules.rounded(1), 512);
  EXPECT_EQ(rules.rounded(512), 512);
  EXPECT_EQ(rules.rounded(513), 1024);
  EXPECT_EQ(rules.rounded(5 * kMiB + 1), 5 * kMiB + 512);
}

TEST(Rules, DivisionsRoundToStepsBetweenPowersOfTwo) {
  Rules rules;
  rules.divisions.fill(4);
  EXPECT_EQ(rules.rounded(1200), 1536);  // not above 512 * 4: by 512
  EXPECT_EQ(rules.rounded(2100), 2560);  // 2048, 2560, 3072, 3584
  EXPECT_EQ(rules.rounded(4096), 4096);
  EXPECT_EQ(rules.rounded(9 * kMiB), 10 * kMiB);
  EXPECT_EQ(rules.rounded(100 * (kMiB << 10)), 112 * (kMiB << 10));  // beyond the last interval
  // Each interval has its own number.
  rules.divisions = {};
  rules.divisions[3] = 2;  // 8 to 16 MiB
  EXPECT_EQ(rules.rounded(9 * kMiB), 12 * kMiB);
  EXPECT_EQ(rules.rounded(5 * kMiB + 3), 5 * kMiB + 512);
}

TEST(Rules, SegmentsFollowTheRequest) {
  const Rules rules;
  EXPECT_EQ(rules.segment_for(kMiB), 2 * kMiB);
  EXPECT_EQ(rules.segment_for(kMiB + 512), 20 * kMiB);
  EXPECT_EQ(rules.segment_for(10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(rules.segment_for(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(rules.segment_for(21 * kMiB), 22 * kMiB);
}

TEST(Rules, SmallBlocksAreCutFinelyAndLargeOnesCoarsely) {
  Rules rules;
  EXPECT_TRUE(rules.cuts(1024, 512, true, false));
  EXPECT_FALSE(rules.cuts(512, 512, true, false));
  EXPECT_FALSE(rules.cuts(4 * kMiB, 3 * kMiB, false, false));  // exactly 1 MiB is left: not cut
  EXPECT_TRUE(rules.cuts(4 * kMiB + 512, 3 * kMiB, false, false));
  EXPECT_TRUE(rules.cuts(4 * kMiB, 3 * kMiB, false, true));  // an expandable segment's is
  rules.max_split_size = 64 * kMiB;
  EXPECT_FALSE(rules.cuts(200 * kMiB, 64 * kMiB, false, false));
  EXPECT_TRUE(rules.cuts(200 * kMiB, 63 * kMiB, false, false));
}

TEST(Rules, AreReadFromTheSettings) {
  memory::Settings settings;
  settings.conf = "expandable_segments:False,max_non_split_rounding_mb:40,large_segment_size_mb:12";
  settings.max_split_size = -1;
  settings.roundup_power2_divisions = {{1, 8}, {32768, 2}};
  const Rules rules = rules_of(settings);
  EXPECT_EQ(rules.max_split_size, kNoLimit);
  EXPECT_EQ(rules.max_unsplit_surplus, 40 * kMiB);
  EXPECT_EQ(rules.large_segment, 12 * kMiB);
  EXPECT_EQ(rules.divisions[0], 8);
  EXPECT_EQ(rules.divisions[15], 2);
  EXPECT_EQ(conf_value("a_b:1,b:2", "b"), "2");
  EXPECT_EQ(conf_value("a_b:1", "b"), std::nullopt);
}

}  // namespace
}  // namespace stepscope::analysis::allocator
