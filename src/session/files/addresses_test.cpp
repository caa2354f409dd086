#include "session/files/addresses.h"

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::session {
namespace {

using base::TempFolder;

TEST(Addresses, LieBesideTheSnapshot) {
  EXPECT_EQ(addresses_beside("a/memory-0.pickle"), "a/memory-0-addresses.json");
  EXPECT_EQ(addresses_beside("memory-0.pickle.gz"), "memory-0-addresses.json");
  EXPECT_EQ(addresses_beside("x.pkl.zst"), "x-addresses.json");
  EXPECT_EQ(addresses_beside("-"), "");
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
