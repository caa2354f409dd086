#include "trace/ordering.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "trace/key_index.h"

namespace stepscope::trace {
namespace {

using base::Nanos;

TrackOrder order_of(std::span<const Nanos> start, std::span<const Nanos> duration) {
  std::vector<std::size_t> begins;
  for (std::size_t row = 1; row < start.size(); ++row) {
    if (begins_run(start, duration, row)) begins.push_back(row);
  }
  return {start, duration, std::move(begins)};
}

// Rows as a file has them, in runs with ties; all of them sorted as the library would, slice by
// slice from the last to the first. How many slices it took.
std::size_t check_order(std::size_t size, unsigned run, std::minstd_rand& random) {
  std::vector<Nanos> start(size);
  std::vector<Nanos> duration(size);
  for (std::size_t i = 0; i < size; ++i) {
    const bool begins = i == 0 || random() % run == 0;
    start[i] = begins ? static_cast<Nanos>(random() % (size / 2 + 50))
                      : start[i - 1] + static_cast<Nanos>(random() % 3);
    duration[i] = static_cast<Nanos>(random() % 3);
  }
  std::vector<std::size_t> expected(size);
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(start[a], -duration[a]) < std::make_tuple(start[b], -duration[b]);
  });
  std::vector<Nanos> sorted_start(size);
  std::vector<Nanos> sorted_duration(size);
  std::vector<std::uint32_t> place(size);
  const TrackOrder order = order_of(start, duration);
  TrackOrder::Room room;
  for (std::size_t i = order.slices(); i > 0; --i) {
    order.sort(i - 1, {sorted_start, sorted_duration, place}, room);
  }
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_EQ(place[expected[i]], i);
    EXPECT_EQ(sorted_start[i], start[expected[i]]);
    EXPECT_EQ(sorted_duration[i], duration[expected[i]]);
    if (::testing::Test::HasFailure()) break;
  }
  return order.slices();
}

TEST(TrackOrder, IsAStableSortByStartThenLongerFirst) {
  constexpr unsigned kSeed = 3;
  std::minstd_rand random(kSeed);
  for (int round = 0; round < 300; ++round) {
    check_order(random() % 200, 8, random);
    ASSERT_FALSE(::testing::Test::HasFailure()) << round;
  }
}

TEST(TrackOrder, ManyRowsAreCutIntoSlicesOfTime) {
  constexpr unsigned kSeed = 4;
  std::minstd_rand random(kSeed);
  // Few long runs, many short ones, and rows in no order at all.
  for (const unsigned run : {100'000U, 1000U, 2U}) {
    SCOPED_TRACE(run);
    EXPECT_GT(check_order(200'000, run, random), 4U);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(TrackOrder, ASortedTrackAndOneOfEqualStartsAreOneSlice) {
  std::vector<Nanos> start(100'000);
  const std::vector<Nanos> duration(start.size(), 1);
  EXPECT_EQ(order_of(start, duration).slices(), 1U);
  std::iota(start.begin(), start.end(), 0);
  EXPECT_EQ(order_of(start, duration).slices(), 1U);
  EXPECT_EQ(order_of({}, {}).slices(), 0U);
}

TEST(KeyIndex, FindsAllValuesOfAKeyInOrderDenseOrSparse) {
  for (const std::int64_t spread : {std::int64_t{1}, std::int64_t{1} << 40}) {
    const KeyIndex index = KeyIndex::build([&](auto add) {
      for (std::uint32_t i = 0; i < 100; ++i) add((i % 7) * spread - 3, i);
    });
    for (std::int64_t key = 0; key < 7; ++key) {
      const auto found = index.find(key * spread - 3);
      ASSERT_EQ(found.size(), key < 2 ? 15U : 14U);
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    }
    EXPECT_TRUE(index.find(7 * spread - 3).empty());
    EXPECT_TRUE(index.find(-4).empty());
  }
  EXPECT_TRUE(KeyIndex().find(1).empty());
}

}  // namespace
}  // namespace stepscope::trace
