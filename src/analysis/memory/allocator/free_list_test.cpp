#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "analysis/memory/allocator/caching.h"

namespace stepscope::analysis::allocator {
namespace {

using Entry = std::tuple<Bytes, std::uint64_t, BlockId>;

std::set<Entry> entries_of(const FreeList& list) {
  std::set<Entry> found;
  for (auto at = list.begin(); !list.is_end(at); at = list.next(at)) {
    found.insert({list.size_at(at), list.id(at) * std::uint64_t{512}, list.id(at)});
  }
  return found;
}

// Few sizes: many blocks differ by their address alone. Many: hardly any do.
class FreeListWith : public testing::TestWithParam<Bytes> {};

TEST_P(FreeListWith, FindsWhatASortedSetFinds) {
  std::mt19937 random(7);
  const auto kinds = static_cast<std::uint64_t>(GetParam());  // of sizes
  FreeList list;
  std::set<Entry> expected;
  const auto change = [&](bool grows) {
    if (grows || expected.empty()) {
      const auto id = static_cast<BlockId>(random() % 1'000'000);
      const Entry entry{static_cast<Bytes>(id * 7919 % kinds) * 512, id * std::uint64_t{512}, id};
      if (!expected.insert(entry).second) return;
      list.insert(std::get<0>(entry), std::get<1>(entry), id);
      return;
    }
    auto at = expected.lower_bound({static_cast<Bytes>(random() % kinds) * 512, 0, 0});
    if (at == expected.end()) at = expected.begin();
    list.erase(std::get<0>(*at), std::get<1>(*at));
    expected.erase(at);
  };
  const auto compare = [&] {
    ASSERT_EQ(list.size(), expected.size());
    ASSERT_EQ(entries_of(list), expected);
    if (!expected.empty()) {
      EXPECT_EQ(list.id(list.last()), std::get<2>(*expected.rbegin()));
    }
    for (int i = 0; i < 200; ++i) {
      const Bytes size = static_cast<Bytes>(random() % (kinds + 2)) * 512 - 512;
      const auto wanted = expected.lower_bound({std::max<Bytes>(size, 0), 0, 0});
      const auto found = list.first_of(std::max<Bytes>(size, 0));
      ASSERT_EQ(list.is_end(found), wanted == expected.end());
      if (wanted != expected.end()) {
        ASSERT_EQ(list.id(found), std::get<2>(*wanted));
      }
    }
  };
  // Up to many, down to none, and up again.
  for (const int grows_of_ten : {9, 5, 1, 0, 7, 2, 0}) {
    for (int i = 0; i < 20'000; ++i) change(static_cast<int>(random() % 10) < grows_of_ten);
    compare();
  }
  while (!expected.empty()) change(false);
  compare();
  EXPECT_TRUE(list.empty());
}

INSTANTIATE_TEST_SUITE_P(Sizes, FreeListWith, testing::Values(1, 40, 100'000));

}  // namespace
}  // namespace stepscope::analysis::allocator
