#include "trace/signatures.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::trace {
namespace {

TEST(SignaturePool, EqualCallsHaveEqualIdsInOrderOfAppearance) {
  SignaturePool pool;
  const SignatureTexts first{"[[1]]", R"(["float"])", {}, {}};
  const SignatureTexts second{"[[2]]", R"(["float"])", {}, {}};
  EXPECT_EQ(pool.intern(first, 10), 0);
  EXPECT_EQ(pool.intern(second, 20), 1);
  EXPECT_EQ(pool.intern(first, 30), 0);
  ASSERT_EQ(pool.entries().size(), 2);
  EXPECT_EQ(pool.entries()[1].first_seen, 20);
  EXPECT_EQ(pool.entries()[0].texts[1], pool.entries()[1].texts[1]);
  EXPECT_EQ(pool.texts().entries()[pool.entries()[1].texts[0]].raw, "[[2]]");
}

TEST(SignaturePool, TheSameTextInAnotherPlaceIsAnotherCall) {
  SignaturePool pool;
  EXPECT_EQ(pool.intern({"[]", {}, {}, {}}, 1), 0);
  EXPECT_EQ(pool.intern({{{}, "[]", {}, {}}}, 2), 1);
  EXPECT_EQ(pool.intern({"[]", "[]", {}, {}}, 3), 2);
  EXPECT_EQ(pool.intern({"", "[]", {}, {}}, 4), 3);  // given, and empty
}

// More calls than are remembered by their last appearance, many alike but for a middle byte.
TEST(SignaturePool, ManyCallsKeepTheirIds) {
  SignaturePool pool;
  std::vector<std::string> texts;
  for (int i = 0; i < 10'000; ++i) {
    std::string text(40, '7');
    texts.push_back(text.append(std::to_string(i)).append(90, '8'));
  }
  for (const std::uint64_t round : {0U, 1U}) {
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      ASSERT_EQ(pool.intern({texts[i], "[\"\"]", texts[i], {}}, round * texts.size() + i), i);
    }
  }
  EXPECT_EQ(pool.entries().size(), texts.size());
}

}  // namespace
}  // namespace stepscope::trace
