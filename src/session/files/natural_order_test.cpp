#include "session/files/natural_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::session {
namespace {

TEST(NaturalOrder, SortsAsPeopleList) {
  const std::vector<std::string> expected = {"a/rank0.json",
                                             "a/rank2.json",
                                             "a/rank10.json",
                                             "a-b/rank1.json",
                                             "iteration_9/x",
                                             "iteration_10/",
                                             "iteration_10/x",
                                             "rank01",
                                             "rank1",
                                             "rank99999999999999999998",
                                             "rank99999999999999999999"};
  std::vector<std::string> names = expected;
  std::ranges::reverse(names);
  std::ranges::sort(names, natural_less);
  EXPECT_THAT(names, testing::ElementsAreArray(expected));
}

TEST(NaturalOrder, IsStrict) {
  for (const std::string name : {"", "a", "a1", "1a", "01"}) EXPECT_FALSE(natural_less(name, name));
  EXPECT_TRUE(natural_less("", "a"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_NE(natural_less("a01", "a1"), natural_less("a1", "a01"));
}

}  // namespace
}  // namespace stepscope::session
