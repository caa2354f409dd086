// The progress line at several widths.
#include "report/writing/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

TEST(ProgressLine, ShowsPartRateAndTimeLeft) {
  const ProgressState state{.bytes_done = 500'000'000, .bytes_total = 2'000'000'000, .seconds = 2};
  EXPECT_EQ(progress_line(state, {.width = 80}),
            "reading  ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌   25 %  250 MB/s  6 s left");
}

TEST(ProgressLine, CountsFilesWhenThereAreSeveral) {
  const ProgressState state{
      .bytes_done = 1, .bytes_total = 2, .files_done = 3, .files_total = 16, .seconds = 0.1};
  EXPECT_THAT(progress_line(state, {}), testing::EndsWith("50 %  3 of 16 files"));
}

TEST(ProgressLine, HasNoBarWithoutATotal) {
  const ProgressState state{.bytes_done = 3'000'000, .files_total = 1, .seconds = 1};
  EXPECT_EQ(progress_line(state, {.width = 80}), "reading  2.86 MiB  3.00 MB/s");
}

TEST(ProgressLine, NeverFillsTheTerminalsWidth) {
  const ProgressState state{.bytes_done = 500'000'000,
                            .bytes_total = 200'000'000'000,
                            .files_done = 3,
                            .files_total = 4096,
                            .seconds = 2};
  for (std::size_t width = 1; width < 100; ++width) {
    EXPECT_LT(text_width(progress_line(state, {.width = width})), width);
  }
}

}  // namespace
}  // namespace stepscope::report
