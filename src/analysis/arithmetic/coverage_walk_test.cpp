#include <random>

#include <gtest/gtest.h>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {
namespace {

TEST(CoverageWalk, OfNothingCoversNothing) {
  CoverageWalk none;
  EXPECT_EQ(none.covered({0, 10}), 0);
  CoverageWalk one(Intervals{{5, 7}});
  EXPECT_EQ(one.covered({7, 5}), 0);
  EXPECT_EQ(one.covered({0, 10}), 2);
}

// Coverage answers in any order: so must this, forwards, backwards and at random.
TEST(CoverageWalk, AgreesWithCoverageWhateverWasAskedBefore) {
  std::mt19937 random(3);
  Union made;
  base::Nanos at = 0;
  for (int i = 0; i < 300; ++i) {
    at += 1 + static_cast<base::Nanos>(random() % 20);
    made.add(at, at + static_cast<base::Nanos>(random() % 15));
  }
  const Coverage expected(made.set());
  CoverageWalk walk(made.set());
  const auto ask = [&](base::Nanos start, base::Nanos length) {
    ASSERT_EQ(walk.covered({start, start + length}), expected.covered({start, start + length}))
        << start << " " << length;
  };
  for (base::Nanos start = -10; start < at + 20; ++start) ask(start, 25);
  for (base::Nanos start = at + 20; start > -10; --start) ask(start, 3);
  for (int i = 0; i < 3000; ++i) {
    ask(static_cast<base::Nanos>(random() % 4000) - 50, static_cast<base::Nanos>(random() % 900));
  }
}

}  // namespace
}  // namespace stepscope::analysis
