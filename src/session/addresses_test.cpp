#include "session/addresses.h"

#include <gtest/gtest.h>

#include "session/temp_folder_for_tests.h"

namespace stepscope::session {
namespace {

using memory::Content;

TEST(Addresses, LieBesideTheSnapshot) {
  EXPECT_EQ(addresses_beside("a/memory-0.pickle"), "a/memory-0-addresses.json");
  EXPECT_EQ(addresses_beside("memory-0.pickle.gz"), "memory-0-addresses.json");
  EXPECT_EQ(addresses_beside("x.pkl.zst"), "x-addresses.json");
  EXPECT_EQ(addresses_beside("-"), "");
}

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

TEST(Addresses, ThatCannotBeUsedAreNoted) {
  const TempFolder folder;
  folder.write("memory-0-addresses.json", "{");
  memory::Snapshot snapshot;
  add_known_addresses(folder / "memory-0.pickle", snapshot);
  EXPECT_TRUE(snapshot.known.empty());
  EXPECT_EQ(snapshot.log.count(base::Note::kUnknownValue), 1u);
  add_known_addresses(folder / "memory-1.pickle", snapshot);
  EXPECT_EQ(snapshot.log.count(base::Note::kUnknownValue), 1u);
}

}  // namespace
}  // namespace stepscope::session
