// Targets, parameters, and answers that are kept.
#include <gtest/gtest.h>

#include "server/answer_store.h"
#include "server/request.h"

namespace stepscope::server {
namespace {

TEST(Target, IsDecodedWithoutItsBase) {
  const auto plain = parse_target("/api/search?q=a%20b+c&limit=5&", "");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->path, "api/search");
  EXPECT_EQ(plain->query.at("q"), "a b c");
  EXPECT_EQ(plain->query.at("limit"), "5");
  EXPECT_EQ(parse_target("/node/7/api/run", "/node/7")->path, "api/run");
  EXPECT_EQ(parse_target("/node/7", "/node/7")->path, "");
  EXPECT_EQ(parse_target("/api/run", "/node/7")->path, "api/run");
  EXPECT_EQ(parse_target("/node/77/x", "/node/7")->path, "node/77/x");
}

TEST(Target, RefusesWhatNoPageSends) {
  for (const char* target : {"", "api/run", "http://localhost/", "*", "/%", "/%2", "/%zz", "/a%00b",
                             "/a%0ab", "/%ff", "/%c0%af", "/?a=1&a=2", "/?q=%f"}) {
    EXPECT_FALSE(parse_target(target, "")) << target;
  }
}

TEST(Query, SaysWhichParameterItDoesNotKnow) {
  Query query(*parse_target("/?limit=5&other=1&token=x&v=y", ""));
  EXPECT_EQ(*query.whole("limit", 100, 1000), 5U);
  ASSERT_FALSE(query.finish());
  EXPECT_EQ(query.finish().error().message, "there is no parameter 'other' here");
}

TEST(Query, TakesWholeNumbersWithinTheirBounds) {
  for (const char* text : {"-1", "1.5", "1e3", "", "1001", "99999999999999999999999", " 1", "+1"}) {
    Target target;
    target.query["limit"] = text;
    EXPECT_FALSE(Query(target).whole("limit", 100, 1000)) << text;
  }
}

TEST(Content, IsPackedWhereThatIsShorter) {
  const auto small = make_content("text/plain", "short");
  EXPECT_TRUE(small->gzip.empty());
  const auto large = make_content("text/plain", std::string(100000, 'x'));
  ASSERT_FALSE(large->gzip.empty());
  EXPECT_LT(large->gzip.size(), 2000U);
  EXPECT_EQ(large->gzip.substr(0, 2), "\x1f\x8b");
  EXPECT_NE(small->etag, large->etag);
}

Response text(const std::string& body, unsigned status = 200) {
  Response response;
  response.status = status;
  response.content = make_content("text/plain", body);
  return response;
}

TEST(AnswerStore, KeepsWhatWasAskedForLast) {
  AnswerStore store(6000);
  int made = 0;
  const auto get = [&](const std::string& key) {
    return store.get(key, [&] {
      ++made;
      return text(std::string(10, key.front()) + std::to_string(made));
    });
  };
  get("a");
  get("a");
  EXPECT_EQ(made, 1);
  for (char key = 'b'; key <= 'h'; ++key) {
    get(std::string(1, key));
    get("a");
  }
  EXPECT_EQ(made, 8);
  for (char key = 'i'; key <= 'z'; ++key) get(std::string(1, key));
  get("a");
  EXPECT_EQ(made, 8 + 18 + 1);
  EXPECT_LE(store.bytes(), 6000U);
}

TEST(AnswerStore, KeepsNoErrors) {
  AnswerStore store(100000);
  int made = 0;
  for (int i = 0; i < 2; ++i) {
    store.get("x", [&] {
      ++made;
      return text("no", 404);
    });
  }
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace stepscope::server
