#include <gtest/gtest.h>

#include "analysis/memory/owners/allocation_owners.h"

namespace stepscope::analysis {
namespace {

TEST(OpenAt, TheLastBegunIsTheInnermost) {
  const OpenAt open({{0, 100, 1}, {10, 30, 2}, {20, 40, 3}, {50, 50, 4}});
  struct Case {
    base::Nanos time;
    std::uint32_t name;
  };
  for (const Case& c :
       {Case{-1, OpenAt::kNothing}, Case{0, 1}, Case{10, 2}, Case{19, 2}, Case{20, 3}, Case{30, 3},
        Case{39, 3}, Case{40, 1}, Case{50, 1}, Case{99, 1}, Case{100, OpenAt::kNothing}}) {
    SCOPED_TRACE(c.time);
    EXPECT_EQ(open.at(c.time), c.name);
  }
  EXPECT_EQ(OpenAt().at(5), OpenAt::kNothing);
}

}  // namespace
}  // namespace stepscope::analysis
