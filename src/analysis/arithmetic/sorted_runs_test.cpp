#include "analysis/arithmetic/sorted_runs.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

using Item = std::pair<int, int>;  // the key, and where it stood

bool less(const Item& a, const Item& b) { return a.first < b.first; }

// Runs of the given lengths, each by key; keys repeat.
std::vector<Item> runs(const std::vector<int>& lengths, std::mt19937& random) {
  std::vector<Item> list;
  for (const int length : lengths) {
    int key = static_cast<int>(random() % 50);
    for (int i = 0; i < length; ++i) {
      key += static_cast<int>(random() % 3);
      list.emplace_back(key, static_cast<int>(list.size()));
    }
  }
  return list;
}

TEST(SortRuns, GivesWhatAStableSortGives) {
  std::mt19937 random(7);
  std::vector<std::vector<int>> cases = {{}, {1}, {200}, {100, 100}, {1, 300}, {300, 1}};
  cases.push_back(std::vector<int>(5, 70));
  cases.push_back(std::vector<int>(9, 40));
  cases.push_back(std::vector<int>(300, 1));  // no runs to speak of
  for (const std::vector<int>& lengths : cases) {
    std::vector<Item> list = runs(lengths, random);
    std::vector<Item> expected = list;
    std::stable_sort(expected.begin(), expected.end(), less);
    sort_runs(list, less);
    EXPECT_EQ(list, expected) << lengths.size() << " runs";
  }
}

}  // namespace
}  // namespace stepscope::analysis
