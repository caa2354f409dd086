#include <gtest/gtest.h>

#include "analysis/memory/history_for_tests.h"
#include "analysis/memory/simulated.h"

namespace stepscope::analysis {
namespace {

using allocator::kMiB;
using allocator::Part;
using allocator::Rules;
using allocator::Stat;

// What one allocator did is followed exactly by address, and done again without addresses.
void expect_followed(const Rules& rules, const memory::Settings& settings) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    RandomHistory made = random_history(rules, seed, 1500);
    made.snapshot.settings = settings;
    const memory::History& history = made.snapshot.histories[0];
    const Lives lives = make_lives(made.snapshot, history);
    const Followed followed = follow(made.snapshot, history, lives);
    EXPECT_TRUE(followed.is_whole);
    EXPECT_EQ(followed.doubts.all(), 0u) << "seed " << seed;
    for (std::size_t s = 0; s < static_cast<std::size_t>(Stat::kCount); ++s) {
      for (std::size_t p = 0; p < static_cast<std::size_t>(Part::kCount); ++p) {
        const auto& ours = followed.statistics(static_cast<Stat>(s), static_cast<Part>(p));
        const auto& theirs = made.statistics(static_cast<Stat>(s), static_cast<Part>(p));
        EXPECT_EQ(ours.current, theirs.current);
        EXPECT_EQ(ours.peak, theirs.peak);
        EXPECT_EQ(ours.allocated, theirs.allocated);
        EXPECT_EQ(ours.freed, theirs.freed);
      }
    }
    const Reproduction again = reproduce(history, lives, followed);
    EXPECT_TRUE(again.is_same) << "seed " << seed << ", event " << again.first_departure << ": "
                               << again.why;
    EXPECT_EQ(again.other_places, 0u);
    EXPECT_GE(followed.peak_reserved.reserved, least_possible(history, lives, rules));
  }
}

TEST(RandomHistories, WithTorchsOwnSettings) { expect_followed({}, {}); }

TEST(RandomHistories, WithExpandableSegments) {
  Rules rules;
  rules.expandable_segments = true;
  memory::Settings settings;
  settings.expandable_segments = true;
  expect_followed(rules, settings);
}

TEST(RandomHistories, WithALimitToCutting) {
  Rules rules;
  rules.max_split_size = 24 * kMiB;
  memory::Settings settings;
  settings.max_split_size = 24 * kMiB;
  expect_followed(rules, settings);
}

TEST(RandomHistories, WithCoarseRounding) {
  Rules rules;
  rules.divisions.fill(4);
  memory::Settings settings;
  for (std::int64_t mib = 1; mib <= 32768; mib *= 2) {
    settings.roundup_power2_divisions.emplace_back(mib, 4);
  }
  expect_followed(rules, settings);
}

}  // namespace
}  // namespace stepscope::analysis
