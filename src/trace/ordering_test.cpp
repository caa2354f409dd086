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

TEST(OrderRows, IsAStableSortByStartThenLongerFirst) {
  constexpr unsigned kSeed = 3;
  std::minstd_rand random(kSeed);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = random() % 200;
    std::vector<Nanos> start(size);
    std::vector<Nanos> duration(size);
    for (std::size_t i = 0; i < size; ++i) {
      // Runs, as a file has them, with ties.
      start[i] = static_cast<Nanos>(
          random() % 8 == 0 ? random() % 50
                            : (i == 0 ? 0 : static_cast<std::size_t>(start[i - 1]) + random() % 3));
      duration[i] = static_cast<Nanos>(random() % 3);
    }
    std::vector<std::size_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(start[a], -duration[a]) < std::make_tuple(start[b], -duration[b]);
    });
    std::vector<Nanos> sorted_start = start;
    std::vector<Nanos> sorted_duration = duration;
    std::vector<std::uint32_t> place(size);
    order_rows(sorted_start, sorted_duration, place);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(place[expected[i]], i);
      ASSERT_EQ(sorted_start[i], start[expected[i]]);
      ASSERT_EQ(sorted_duration[i], duration[expected[i]]);
    }
  }
}

TEST(KeyIndex, FindsAllValuesOfAKeyInOrderDenseOrSparse) {
  for (const std::int64_t spread : {std::int64_t{1}, std::int64_t{1} << 40}) {
    std::vector<KeyIndex::Item> items;
    items.reserve(100);
    for (std::uint32_t i = 0; i < 100; ++i) items.push_back({(i % 7) * spread - 3, i});
    const KeyIndex index(items);
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
