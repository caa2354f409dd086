// Slices in lanes: within a lane they nest, as Perfetto wants them.
#include <gtest/gtest.h>

#include "emit/perfetto/perfetto_window.h"

namespace stepscope::emit {
namespace {

using Span = SliceLanes::Span;

std::vector<std::uint32_t> lanes_of(const std::vector<Span>& spans) {
  SliceLanes lanes;
  std::vector<std::uint32_t> placed;
  placed.reserve(spans.size());
  for (const Span& span : spans) placed.push_back(lanes.place(span).lane);
  return placed;
}

struct SliceLanesCase {
  std::string_view what;
  std::vector<Span> spans;
  std::vector<std::uint32_t> lanes;
};

TEST(SliceLanes, OnlyWhatOverlapsMoves) {
  constexpr trace::Row kNone = trace::kNoRow;
  const SliceLanesCase cases[] = {
      {"nested", {{0, 0, 10, kNone}, {1, 2, 8, 0}, {2, 3, 8, 1}, {3, 8, 10, 0}}, {0, 0, 0, 0}},
      {"one after the other", {{0, 0, 10, kNone}, {1, 10, 12, kNone}}, {0, 0}},
      {"points", {{0, 5, 5, kNone}, {1, 5, 5, kNone}, {2, 5, 9, kNone}}, {0, 0, 0}},
      {"equal", {{0, 5, 9, kNone}, {1, 5, 9, kNone}}, {0, 0}},
      {"overlapping", {{0, 0, 10, kNone}, {1, 5, 15, kNone}, {2, 6, 20, kNone}}, {0, 1, 2}},
      {"in the tightest span around it",
       {{0, 0, 10, kNone}, {1, 5, 15, kNone}, {2, 6, 8, 1}, {3, 12, 14, 1}},
       {0, 1, 0, 1}},
      {"lanes are used again",
       {{0, 0, 10, kNone}, {1, 5, 15, kNone}, {2, 16, 20, kNone}},
       {0, 1, 0}},
  };
  for (const SliceLanesCase& c : cases) EXPECT_EQ(lanes_of(c.spans), c.lanes) << c.what;
}

TEST(SliceLanes, ClockNoiseIsCutOff) {
  SliceLanes lanes;
  lanes.place({0, 0, 10'000, trace::kNoRow});
  const auto child = lanes.place({1, 2'000, 11'000, 0});
  EXPECT_EQ(child.lane, 0U);
  EXPECT_EQ(child.end, 10'000);
  const auto grandchild = lanes.place({2, 3'000, 10'500, 1});
  EXPECT_EQ(grandchild.lane, 0U) << "what is called by a cut span is cut as well";
  EXPECT_EQ(grandchild.end, 10'000);
}

TEST(SliceLanes, MoreThanNoiseIsAnOverlap) {
  SliceLanes lanes;
  lanes.place({0, 0, 10'000, trace::kNoRow});
  EXPECT_EQ(lanes.place({1, 2'000, 11'001, 0}).lane, 1U);
}

TEST(SliceLanes, SpansEndInOrderBeforeTheNextBegins) {
  SliceLanes lanes;
  lanes.place({0, 0, 10, trace::kNoRow});
  lanes.place({1, 5, 15, trace::kNoRow});
  lanes.place({2, 6, 8, 0});
  lanes.place({3, 12, 20, trace::kNoRow});
  ASSERT_EQ(lanes.ended().size(), 2U);
  EXPECT_EQ(lanes.ended()[0].time, 8);
  EXPECT_EQ(lanes.ended()[1].time, 10);
  lanes.finish();
  ASSERT_EQ(lanes.ended().size(), 2U);
  EXPECT_EQ(lanes.ended()[0].time, 15);
  EXPECT_EQ(lanes.ended()[1].time, 20);
}

}  // namespace
}  // namespace stepscope::emit
