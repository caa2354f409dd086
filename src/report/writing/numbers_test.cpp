// Examples that hold for the page, too, are in tests/fixtures/number_texts.tsv.
#include "report/writing/numbers.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(Numbers, TheLongestDurationHasAText) {
  EXPECT_EQ(duration_text(std::numeric_limits<base::Nanos>::min()), "-106752 d");
}

TEST(Numbers, LengthsBesideEachOtherHaveOneUnit) {
  EXPECT_EQ(duration_text_like(940'000, 1'200'000), "0.94 ms");
  EXPECT_EQ(duration_text_like(1'200'000, 1'200'000), "1.20 ms");
  EXPECT_EQ(duration_text_like(-6'370'000, 41'500'000), "-6.37 ms");
  EXPECT_EQ(duration_text_like(97, 41'500'000), "<0.01 ms");
  EXPECT_EQ(duration_text_like(0, 41'500'000), "0 ms");
  EXPECT_EQ(duration_text_like(2'500'000'000, 41'500'000), "2500 ms");
  EXPECT_EQ(duration_text_like(12, 97), "12 ns");
  EXPECT_EQ(durations_text(940'000, 1'200'000), "0.94 → 1.20 ms");
  EXPECT_EQ(durations_text(0, 2'000'000), "0 → 2.00 ms");
  EXPECT_EQ(durations_text(10'000, 190'000'000), "10.0 µs → 190 ms");
}

TEST(Numbers, WhatIsCountedIsNamed) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2'000, "rank"), "2,000 ranks");
}

TEST(Numbers, PercentagesNeverClaimAllOrNothingByRounding) {
  EXPECT_EQ(percent_text(0, 0), "–");
  EXPECT_EQ(percent_text(5, 5), "100 %");
  EXPECT_EQ(percent_text(0, 5), "0 %");
  EXPECT_EQ(percent_text(99'999, 100'000), ">99.9 %");
  EXPECT_EQ(percent_text(1, 100'000), "<0.1 %");
  EXPECT_EQ(percent_text(998, 1'000), "99.8 %");
}

TEST(Numbers, TimesAreUtc) {
  EXPECT_EQ(unix_time_text(0), "1970-01-01 00:00:00.000 UTC");
  EXPECT_EQ(unix_time_text(1'790'857'026'123'456'789), "2026-10-01 12:17:06.123 UTC");
  EXPECT_EQ(unix_time_text(951'782'400'000'000'000), "2000-02-29 00:00:00.000 UTC");
  EXPECT_EQ(unix_time_text(-1'000'000), "1969-12-31 23:59:59.999 UTC");
}

}  // namespace
}  // namespace stepscope::report
