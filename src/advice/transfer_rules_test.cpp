// Copies to the GPU that hold up the step: when, how much of it goes, and what to change.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

Answers uploads(std::int64_t copy_ns, const char* memory = "pageable", std::int64_t count = 1,
                std::int64_t size = 1 << 30) {
  Answers answers;
  answers.steps().stall("upload", 0, {{"copy_ns", memory[1] == 'a' ? 4 * copy_ns : 0}});
  answers.add("transfers", "classes",
              {{"rank", 0},
               {"kind", "HtoD"},
               {"host_memory", memory},
               {"count", 4 * count},
               {"bytes", 4 * count * size},
               {"median_bytes", size},
               {"copy_ns", 4 * copy_ns},
               {"bytes_per_second", 16'000'000'000}});
  return answers;
}

TEST(SlowTransfers, PageableCopiesThatNothingHides) {
  const Advice advice = uploads(5'000'000).advise();
  const Finding* finding = finding_of(advice, "slow-transfers");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_EQ(finding->gain->low, 2'500'000);  // pinned memory is at least twice as fast
  EXPECT_GE(finding->gain->high, 5'000'000);
}

// Copies of pageable memory of 40 MB, 5 ms on average: how much they differ is how much longer they
// may take elsewhere.
TEST(SlowTransfers, CopiesThatDifferMayTakeLongerElsewhere) {
  const auto most = [](const std::vector<std::int64_t>& copies) {
    Answers answers = uploads(5'000'000);
    for (const std::int64_t copy : copies) {
      answers.add("transfers", "steps",
                  {{"rank", 0},
                   {"kind", "HtoD"},
                   {"host_memory", "pageable"},
                   {"bytes", 40'000'000},
                   {"copy_ns", copy}});
    }
    return static_cast<double>(finding_of(answers.advise(), "slow-transfers")->gain->high);
  };
  const double alike = most({5'000'000, 5'000'000, 5'000'000});
  EXPECT_EQ(alike, most({}));
  // One further draw, one-sided 95 %: 2.92 · 0.5 ms · √(1 + 1/3).
  EXPECT_NEAR(most({4'500'000, 5'000'000, 5'500'000}) - alike, 1'686'000, 1'000);
  // No more than as long again, and never more than the step.
  EXPECT_EQ(most({4'000'000, 6'000'000}), 10e6);
}

// As of ROCm, which does not say from which memory a copy comes, nor always how large it is.
TEST(SlowTransfers, SaysNothingOfMemoryAndBytesThatAreNotKnown) {
  const auto waits = [](const Answers::Row& more) {
    Answers answers;
    Answers::Row row = {{"rank", 0}, {"kind", "HtoD"}, {"count", 8}, {"bytes", 0}};
    row.insert(row.end(), more.begin(), more.end());
    answers.steps().stall("upload", 2'000'000).add("transfers", "classes", row);
    return *finding_of(answers.advise(), "slow-transfers");
  };
  const Finding unknown = waits({});
  EXPECT_EQ(unknown.title.form, "The GPU waits while the CPU copies data to it: {} of each step");
  EXPECT_NE(unknown.detail.form.find("the recording does not say"), std::string::npos);
  EXPECT_EQ(unknown.measured.name.find("pageable"), std::string::npos);
  EXPECT_EQ(unknown.confidence, Confidence::kLow);
  for (const Figure& figure : unknown.detail.figures) EXPECT_NE(figure.value, 0);
  EXPECT_NE(unknown.changes.front().code.find("pin_memory"), std::string::npos);
  const Finding pinned = waits({{"host_memory", "pinned"}});
  EXPECT_NE(pinned.detail.form.find("come from pinned memory"), std::string::npos);
  EXPECT_EQ(pinned.changes.front().code, "x = x.to(device, non_blocking=True)");
}

TEST(SlowTransfers, SampleBySampleTheWaitsBetweenCopiesGoToo) {
  const auto copies = [](std::int64_t count) {
    Answers answers = uploads(1'000'000, "pageable", count, 1 << 20);
    return *finding_of(answers.stall("upload", 4'000'000, {{"copy_ns", 4'000'000}}).advise(),
                       "slow-transfers");
  };
  EXPECT_EQ(copies(31).gain->low, 500'000);
  EXPECT_EQ(copies(32).gain->low, 4'100'000);
  EXPECT_NE(copies(32).changes.front().code.find("torch.stack(tensors)"), std::string::npos);
}

TEST(SlowTransfers, ShortOnesAndPinnedOnesAreFine) {
  EXPECT_EQ(finding_of(uploads(400'000).advise(), "slow-transfers"), nullptr);
  EXPECT_EQ(finding_of(uploads(5'000'000, "pinned").advise(), "slow-transfers"), nullptr);
}

TEST(SlowTransfers, ManySmallOnesAreWorthANotice) {
  const Advice advice = uploads(1'000, "pinned", 32, 1024).advise();
  ASSERT_NE(finding_of(advice, "slow-transfers"), nullptr);
  EXPECT_EQ(finding_of(advice, "slow-transfers")->level, Level::kNotice);
  EXPECT_EQ(finding_of(uploads(1'000, "pinned", 31, 1024).advise(), "slow-transfers"), nullptr);
  EXPECT_EQ(finding_of(uploads(1'000, "pinned", 32, 1 << 20).advise(), "slow-transfers"), nullptr);
}

}  // namespace
}  // namespace stepscope::advice
