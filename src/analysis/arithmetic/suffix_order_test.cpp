#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/arithmetic/repeats.h"

namespace stepscope::analysis {
namespace {

using Symbols = std::vector<std::uint32_t>;

Symbols prefix(const Symbols& text, std::uint32_t at, std::uint32_t depth) {
  const std::size_t end = std::min<std::size_t>(text.size(), std::size_t{at} + depth);
  return {text.begin() + at, text.begin() + static_cast<std::ptrdiff_t>(end)};
}

SuffixOrder by_comparing(const Symbols& text, std::uint32_t depth) {
  SuffixOrder out;
  out.at.resize(text.size());
  std::iota(out.at.begin(), out.at.end(), 0);
  std::ranges::stable_sort(
      out.at, [&](auto a, auto b) { return prefix(text, a, depth) < prefix(text, b, depth); });
  out.common.resize(text.size());
  for (std::size_t i = 1; i < text.size(); ++i) {
    const Symbols a = prefix(text, out.at[i - 1], depth);
    const Symbols b = prefix(text, out.at[i], depth);
    const auto [end, ignored] = std::ranges::mismatch(a, b);
    out.common[i] = static_cast<std::uint32_t>(end - a.begin());
  }
  return out;
}

TEST(SuffixOrder, IsThatOfComparingForRandomTextsAndDepths) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto symbols = static_cast<std::uint32_t>(1 + random() % 5);
    Symbols text(random() % 60);
    for (std::uint32_t& symbol : text) {
      symbol = static_cast<std::uint32_t>(random() % symbols);
    }
    for (const std::uint32_t depth : {1U, 2U, 3U, 8U, 31U, 100U}) {
      const SuffixOrder got = order_suffixes(text, symbols, depth);
      const SuffixOrder wanted = by_comparing(text, depth);
      ASSERT_EQ(got.at, wanted.at) << "round " << round << " depth " << depth;
      ASSERT_EQ(got.common, wanted.common) << "round " << round << " depth " << depth;
    }
  }
}

TEST(SuffixOrder, OfNothingIsNothing) { EXPECT_TRUE(order_suffixes({}, 1, 8).at.empty()); }

}  // namespace
}  // namespace stepscope::analysis
