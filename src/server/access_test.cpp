// Which requests are answered, and which are refused.
#include "server/access.h"

#include <gtest/gtest.h>

namespace stepscope::server {
namespace {

constexpr const char* kToken = "secret-token";

unsigned status(const Access& access, std::map<std::string, std::string> headers,
                std::map<std::string, std::string> query = {{"token", kToken}}) {
  Request request{.method = "GET", .target = "/", .headers = std::move(headers)};
  const auto refusal = access.refusal(request, {.path = "", .query = std::move(query)});
  return refusal ? refusal->status : 200;
}

TEST(Access, KnowsThisMachineUnderAnyPort) {
  const Access access(kToken, "", {"proxy.example.org"});
  for (const char* host : {"localhost", "localhost:1", "LOCALHOST:65535", "127.0.0.1:8250",
                           "[::1]:80", "[::1]", "proxy.example.org", "Proxy.Example.org:443"}) {
    EXPECT_EQ(status(access, {{"host", host}}), 200U) << host;
  }
}

TEST(Access, RefusesOtherNames) {
  const Access access(kToken, "", {});
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "localhost:", "xlocalhost", "localhost:0", "localhost:65536",
                           "localhost:80:80", "localhost:8a", "127.0.0.2", "0.0.0.0", "[::2]",
                           "::1", "localhost@evil", "localhost ", "proxy.example.org"}) {
    EXPECT_EQ(status(access, {{"host", host}}), 403U) << host;
  }
  EXPECT_EQ(status(access, {}), 400U);
}

TEST(Access, RefusesPagesOfOtherSites) {
  const Access access(kToken, "", {});
  for (const char* origin : {"http://localhost:9", "https://127.0.0.1", "http://[::1]:1"}) {
    EXPECT_EQ(status(access, {{"host", "localhost"}, {"origin", origin}}), 200U) << origin;
  }
  for (const char* origin : {"null", "", "http://evil.example", "file://", "ftp://localhost",
                             "localhost", "http://localhost.evil.example", "http://localhost/x"}) {
    EXPECT_EQ(status(access, {{"host", "localhost"}, {"origin", origin}}), 403U) << origin;
  }
  // Which of two would count is anybody's guess.
  Request twice{.method = "GET", .target = "/", .headers = {{"host", "localhost"}}};
  twice.headers.emplace("origin", "http://localhost");
  twice.repeated_origin = true;
  const auto refusal = access.refusal(twice, {.path = "", .query = {{"token", kToken}}});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 400U);
}

TEST(Access, WantsTheTokenInOneOfThreePlaces) {
  const Access access(kToken, "/base", {});
  const std::string cookie = access.cookie();
  const std::string pair = cookie.substr(0, cookie.find(';'));
  EXPECT_NE(cookie.find("Path=/base/; HttpOnly; SameSite=Strict"), std::string::npos);
  EXPECT_EQ(status(access, {{"host", "localhost"}}), 200U);
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"cookie", pair}}, {}), 200U);
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"cookie", "a=b; " + pair + ";c=d"}}, {}), 200U);
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"authorization", "Bearer secret-token"}}, {}),
            200U);
  EXPECT_EQ(status(access, {{"host", "localhost"}}, {}), 401U);
  EXPECT_EQ(status(access, {{"host", "localhost"}}, {{"token", ""}}), 401U);
  EXPECT_EQ(status(access, {{"host", "localhost"}}, {{"token", "secret-toke"}}), 401U);
  EXPECT_EQ(status(access, {{"host", "localhost"}}, {{"token", "secret-tokeN"}}), 401U);
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"cookie", pair + "x"}}, {}), 401U);
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"cookie", "stepscope=secret-token"}}, {}),
            401U);
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"authorization", "Basic secret-token"}}, {}),
            401U);
  // A wrong token in the address is not mended by a right one elsewhere.
  EXPECT_EQ(status(access, {{"host", "localhost"}, {"cookie", pair}}, {{"token", "old"}}), 401U);
}

TEST(Access, TellsPeopleOnAPage) {
  const Access access(kToken, "", {});
  const auto type = [&](const char* host, const char* accept, const char* path) {
    Request request{.method = "GET", .target = "/", .headers = {{"host", host}}};
    request.headers["accept"] = accept;
    return access.refusal(request, {.path = path, .query = {}})->content->type;
  };
  for (const char* host : {"localhost", "evil.example"}) {
    EXPECT_EQ(type(host, "text/html,*/*;q=0.8", ""), "text/html; charset=utf-8");
    EXPECT_EQ(type(host, "*/*", ""), "application/json");
    EXPECT_EQ(type(host, "text/html", "api/run"), "application/json");
  }
}

TEST(Access, TokensDiffer) {
  const auto one = random_token();
  const auto two = random_token();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_NE(*one, *two);
}

}  // namespace
}  // namespace stepscope::server
