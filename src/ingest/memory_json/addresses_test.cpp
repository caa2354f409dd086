#include "ingest/memory_json/addresses.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::ingest::memory_json {
namespace {

using memory::Content;

TEST(Addresses, AreReadInOrder) {
  const auto known = parse_addresses(R"({"schema": "stepscope.addresses/1", "step": 7,
      "parameters": [[4096, 512], [18446744073709551104, 512]],
      "buffers": [[1024, 8]], "gradients": [[2048, 512]], "optimizer_state": [], "later": {}})");
  ASSERT_TRUE(known);
  ASSERT_EQ(known->size(), 4u);
  EXPECT_EQ((*known)[0].address, 1024u);
  EXPECT_EQ((*known)[0].content, Content::kParameters);
  EXPECT_EQ((*known)[1].content, Content::kGradients);
  EXPECT_EQ((*known)[3].address, 18446744073709551104u);
}

TEST(Addresses, OfAnotherFormAreAnError) {
  for (const std::string wrong :
       {"", "[]", "{", R"({"parameters": [[1, 2]]})", R"({"schema": "stepscope.addresses/2"})",
        R"({"schema": "stepscope.addresses/1", "parameters": [[1]]})",
        R"({"schema": "stepscope.addresses/1", "parameters": [[1, -2]]})",
        R"({"schema": "stepscope.addresses/1", "parameters": [["1", 2]]})",
        R"({"schema": "stepscope.addresses/1", "gradients": {"a": 1}})"}) {
    SCOPED_TRACE(wrong);
    EXPECT_FALSE(parse_addresses(wrong));
  }
}

}  // namespace
}  // namespace stepscope::ingest::memory_json
