#include "analysis/arithmetic/intervals.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

// Brute force: a set of time as one truth per nanosecond.
constexpr base::Nanos kEnd = 64;
using Marks = std::array<bool, kEnd>;

Marks marks_of(std::span<const Interval> set) {
  Marks marks{};
  for (const Interval& i : set) {
    for (base::Nanos t = i.start; t < i.end; ++t) marks[static_cast<std::size_t>(t)] = true;
  }
  return marks;
}

Intervals set_of(const Marks& marks) {
  Intervals set;
  for (std::size_t t = 0; t < marks.size(); ++t) {
    const auto at = static_cast<base::Nanos>(t);
    if (!marks[t]) continue;
    if (set.empty() || set.back().end != at) set.push_back({at, at});
    ++set.back().end;
  }
  return set;
}

template <class Rule>
Intervals combined(const Intervals& a, const Intervals& b, Rule rule) {
  const Marks left = marks_of(a);
  const Marks right = marks_of(b);
  Marks out{};
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = rule(left[t], right[t]);
  return set_of(out);
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  base::Nanos below(base::Nanos limit) {
    return std::uniform_int_distribution<base::Nanos>(0, limit - 1)(engine_);
  }
  Interval interval() {
    const base::Nanos start = below(kEnd);
    return {start, start + below(kEnd - start)};  // may be empty
  }
  std::vector<Interval> intervals() {
    std::vector<Interval> out(static_cast<std::size_t>(below(9)));
    for (Interval& i : out) {
      const base::Nanos start = below(kEnd - 8);
      i = {start, start + below(8)};
    }
    return out;
  }

 private:
  std::mt19937 engine_;
};

TEST(Intervals, AgreeWithTruthPerNanosecond) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const std::vector<Interval> loose = dice.intervals();
    const Intervals a = sorted_union(loose);
    const Intervals b = sorted_union(dice.intervals());
    const Interval within = dice.interval();
    const Intervals both = combined(a, b, [](bool x, bool y) { return x && y; });
    const Intervals inside = combined(a, Intervals{within}, [](bool x, bool y) { return x && y; });

    EXPECT_EQ(a, set_of(marks_of(loose)));
    EXPECT_EQ(unite(a, b), combined(a, b, [](bool x, bool y) { return x || y; }));
    EXPECT_EQ(intersect(a, b), both);
    EXPECT_EQ(subtract(a, b), combined(a, b, [](bool x, bool y) { return x && !y; }));
    EXPECT_EQ(clip(a, within), inside);
    EXPECT_EQ(common(a, b), total(both));
    EXPECT_EQ(covered(a, within), total(inside));
    EXPECT_EQ(Coverage(a).covered(within), total(inside));
  }
}

TEST(Intervals, EmptyOnesVanishAndTouchingOnesBecomeOne) {
  Union set;
  set.add(0, 10);
  set.add(10, 20);
  set.add(25, 25);
  set.add(30, 29);
  EXPECT_EQ(set.set(), (Intervals{{0, 20}}));
}

TEST(Intervals, OneOfTheSubtractedMayCoverSeveral) {
  EXPECT_EQ(subtract(Intervals{{0, 10}, {20, 30}, {40, 50}}, Intervals{{5, 45}}),
            (Intervals{{0, 5}, {45, 50}}));
}

TEST(Coverage, OfNothingIsNothing) {
  EXPECT_EQ(Coverage().covered({0, 100}), 0);
  EXPECT_EQ(Coverage(Intervals{{0, 10}}).covered({5, 2}), 0);
}

}  // namespace
}  // namespace stepscope::analysis
