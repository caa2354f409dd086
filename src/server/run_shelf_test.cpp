// What is offered below --root: what can be opened, and nothing else.
#include "server/run_shelf.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::server {

// What is offered below --root: what can be opened, and nothing else.

namespace {

using testing::ElementsAre;

std::vector<std::string> names_in(const RootFolder& root, std::string_view folder) {
  const auto listing = root.list(folder);
  EXPECT_TRUE(listing);
  std::vector<std::string> names;
  if (!listing) return names;
  for (const RootEntry& entry : listing->entries) names.push_back(entry.name);
  return names;
}

TEST(RootFolder, OffersNothingThatStepscopeWroteBesideItsRecordings) {
  const base::TempFolder folder;
  for (const char* name :
       {"run.json", "attempt-0/attempt.json", "attempt-0/rank00000/rank.json",
        "attempt-0/rank00000/model.json", "attempt-0/rank00000/lines-f.json",
        "attempt-0/rank00000/events.scope", "attempt-0/rank00000/trace-0.json.gz",
        "attempt-0/rank00000/memory-0.pickle", "attempt-0/rank00000/memory-0-addresses.json",
        "attempt-0/rank00000/memory-stats-end-cuda0.json"}) {
    folder.write(name, "{}");
  }
  const auto root = RootFolder::open(folder.path());
  ASSERT_TRUE(root);
  EXPECT_THAT(names_in(*root, "."), ElementsAre("attempt-0"));
  EXPECT_THAT(names_in(*root, "attempt-0/rank00000"),
              ElementsAre("events.scope", "memory-0.pickle", "memory-stats-end-cuda0.json",
                          "trace-0.json.gz"));
  const auto ranks = root->list("attempt-0");
  ASSERT_TRUE(ranks);
  ASSERT_EQ(ranks->entries.size(), 1U);
  EXPECT_EQ(ranks->entries[0].traces, 4U);
}

TEST(RootFolder, OffersWhatOthersCallAlike) {
  const base::TempFolder folder;
  folder.write("runs/lines-5.json", "{}");
  folder.write("runs/memory-0.pickle", "");
  folder.write("runs/memory-0-addresses.json", "{}");  // as it was copied with the snapshot
  const auto root = RootFolder::open(folder.path());
  ASSERT_TRUE(root);
  EXPECT_THAT(names_in(*root, "runs"), ElementsAre("lines-5.json", "memory-0.pickle"));
}

}  // namespace

}  // namespace stepscope::server
