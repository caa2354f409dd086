#include "report/writing/numbers.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(Numbers, DurationsHaveThreeDigitsAndAUnitThatFits) {
  const std::pair<base::Nanos, std::string> cases[] = {
      {0, "0 ns"},
      {7, "7 ns"},
      {999, "999 ns"},
      {1'000, "1.00 µs"},
      {1'234, "1.23 µs"},
      {9'994, "9.99 µs"},
      {9'996, "10.0 µs"},
      {99'949, "99.9 µs"},
      {99'960, "100 µs"},
      {999'499, "999 µs"},
      {999'600, "1.00 ms"},  // rounding carries into the next unit
      {241'300'000, "241 ms"},
      {1'204'000'000, "1.20 s"},
      {59'900'000'000, "59.9 s"},
      {60'000'000'000, "1.00 min"},
      {9'000'000'000'000, "2.50 h"},
      {86'400'000'000'000, "1.00 d"},
      {-1'500, "-1.50 µs"},
      {std::numeric_limits<base::Nanos>::min(), "-106752 d"},
  };
  for (const auto& [ns, text] : cases) EXPECT_EQ(duration_text(ns), text) << ns;
}

TEST(Numbers, BytesAreBinaryAndRatesDecimal) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(543'061), "530 KiB");
  EXPECT_EQ(bytes_text(1'048'064), "1.00 MiB");
  EXPECT_EQ(bytes_text(150'109'880'320), "140 GiB");
  EXPECT_EQ(rate_text(720e6), "720 MB/s");
  EXPECT_EQ(rate_text(1.2545e9), "1.25 GB/s");
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

TEST(Numbers, CountsHaveSeparators) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'000), "1,000");
  EXPECT_EQ(count_text(123'456), "123,456");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
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
