#include "ingest/kineto/text.h"

#include <string>

#include <gtest/gtest.h>

#include "ingest/kineto/keys.h"

namespace stepscope::ingest::kineto {
namespace {

TEST(Decode, UnescapesAndRepairs) {
  EXPECT_EQ(decode("plain"), "plain");
  EXPECT_EQ(decode(R"(a\"b\\c\/d\n)"), "a\"b\\c/d\n");
  EXPECT_EQ(decode(R"(\u00e9\ud83d\ude00)"), "\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(decode(R"(\ud83d!)"), "\xef\xbf\xbd!");
  EXPECT_EQ(decode(R"(C:\Users)"), R"(C:\Users)");
  EXPECT_EQ(decode("a\xff\xfe"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(decode("\xe2\x82"), "\xef\xbf\xbd");
}

TEST(FaultsOf, CountsWhatDecodeRepairs) {
  EXPECT_EQ(faults_of("a\xff\xfe").broken_utf8, 2U);
  EXPECT_EQ(faults_of(R"(C:\Users\new \u12)").bad_escapes, 2U);
  EXPECT_EQ(faults_of(R"({"a": "\\\" \u0041"})").bad_escapes, 0U);
}

TEST(Keys, AreFoundFromTheirEnd) {
  const auto before = [](const std::string& text) { return std::string(64, '.') + text + "\""; };
  const auto arg = [&](const std::string& text) {
    const std::string whole = before(text);
    return arg_before(whole.data() + whole.size() - 1);
  };
  const auto field = [&](const std::string& text) {
    const std::string whole = before(text);
    return field_before(whole.data() + whole.size() - 1);
  };
  EXPECT_EQ(arg("\"External id"), Arg::kExternalId);
  EXPECT_EQ(arg("\"external id"), Arg::kExternalId);
  EXPECT_EQ(arg("\"Internal id"), Arg::kNone);
  EXPECT_EQ(arg("\"xExternal id"), Arg::kNone);
  EXPECT_EQ(arg(", \"Seq"), Arg::kCollectiveSequence);
  EXPECT_EQ(arg("\"wait_on_cuda_event_RECORD_corr_id"), Arg::kNone);
  EXPECT_EQ(arg("\"wait_on_cuda_event_record_corr_id"), Arg::kWaitOnRecord);
  EXPECT_EQ(arg("\""), Arg::kNone);
  EXPECT_EQ(field("\"name"), Field::kName);
  EXPECT_EQ(field("\"xname"), Field::kNone);
}

}  // namespace
}  // namespace stepscope::ingest::kineto
