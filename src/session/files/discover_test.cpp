// Which files paths mean: folders, links, attempts, unfinished files.
#include "session/files/discover.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

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

namespace {

using base::TempFolder;

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> paths_of(const Discovery& found, const TempFolder& folder) {
  std::vector<std::string> paths;
  paths.reserve(found.files.size());
  for (const FoundFile& file : found.files) {
    paths.push_back(file.path == "-" ? "-" : file.path.substr(folder.path().size() + 1));
  }
  return paths;
}

TEST(Discover, FindsTracesByNameInDepthAndInOrder) {
  const TempFolder folder;
  for (const char* name :
       {"rank10.json", "rank2.json.gz", "nested/rank0/trace.json.zst", "notes.txt", "model.pt",
        "iteration_10/rank0_trace.json.gz", "iteration_9/rank0_trace.json.gz",
        "plugins/profile/2024_01_01/worker0.pt.trace.json", "host_1.17000.pt.trace.json.gz",
        ".hidden/rank3.json", ".json", "memory.pickle"}) {
    folder.write(name, "{}");
  }
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  EXPECT_THAT(
      paths_of(*found, folder),
      ElementsAre("host_1.17000.pt.trace.json.gz", "iteration_9/rank0_trace.json.gz",
                  "iteration_10/rank0_trace.json.gz", "memory.pickle",
                  "nested/rank0/trace.json.zst", "plugins/profile/2024_01_01/worker0.pt.trace.json",
                  "rank2.json.gz", "rank10.json"));
  EXPECT_FALSE(found->files[0].named);
  EXPECT_THAT(found->skipped, IsEmpty());
}

TEST(Discover, TakesNamedFilesWhateverTheirName) {
  const TempFolder folder;
  const std::string odd = folder.write("odd.name", "12345");
  const auto found = discover({odd, "-"});
  ASSERT_TRUE(found);
  EXPECT_THAT(paths_of(*found, folder), ElementsAre("odd.name", "-"));
  EXPECT_TRUE(found->files[0].named);
  EXPECT_EQ(found->files[0].bytes, 5u);
}

TEST(Discover, CountsAFileOnce) {
  const TempFolder folder;
  const std::string file = folder.write("a/rank0.json", "{}");
  std::filesystem::create_symlink(folder.path(), folder / "a/loop");
  std::filesystem::create_symlink(file, folder / "other.json");
  const auto found = discover({file, folder.path(), folder / "a"});
  ASSERT_TRUE(found);
  EXPECT_THAT(paths_of(*found, folder), ElementsAre("a/rank0.json"));
}

TEST(Discover, StaysWithinAFolder) {
  const TempFolder folder;
  const TempFolder elsewhere;
  const std::string outside = elsewhere.write("rank9.json", "{}");
  folder.write("a/rank0.json", "{}");
  folder.write("b/rank1.json", "{}");
  std::filesystem::create_symlink(outside, folder / "a/rank9.json");
  std::filesystem::create_symlink(elsewhere.path(), folder / "c");
  std::filesystem::create_symlink(folder / "b", folder / "d");
  const std::string root = std::filesystem::canonical(folder.path()).string();
  const auto found = discover({root}, root);
  ASSERT_TRUE(found);
  std::vector<std::string> lines;
  for (const FoundFile& file : found->files) {
    lines.push_back(file.path.substr(root.size() + 1));
    EXPECT_EQ(file.within, root);
  }
  EXPECT_THAT(lines, testing::UnorderedElementsAre("a/rank0.json",
                                                   testing::AnyOf("b/rank1.json", "d/rank1.json")));
  ASSERT_EQ(found->skipped.size(), 2U);
  EXPECT_THAT(found->skipped[0].why, testing::HasSubstr("leads out"));
  EXPECT_EQ(discover({root})->files.size(), 3U);
}

TEST(Discover, LeavesOutTheCompressedTwinAndUnfinishedFiles) {
  const TempFolder folder;
  folder.write("rank0.json", "{}");
  folder.write("rank0.json.gz", "{}");
  folder.write("rank1.json.tmp", "{}");
  folder.write("rank2.json.gz.partial", "{}");
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  EXPECT_THAT(paths_of(*found, folder), ElementsAre("rank0.json", "rank2.json.gz.partial"));
  EXPECT_FALSE(found->files[0].partial);
  EXPECT_TRUE(found->files[1].partial);
  ASSERT_EQ(found->skipped.size(), 2u);
  EXPECT_EQ(found->skipped[0].why, "rank0.json beside it was taken instead");
  EXPECT_EQ(found->skipped[1].why, "its writer has not finished it");
}

// A file that is named is a promise, in whatever order.
TEST(Discover, KeepsATwinThatIsNamed) {
  const TempFolder folder;
  folder.write("rank0.json", "{}");
  const std::string packed = folder.write("rank0.json.gz", "{}");
  for (const std::vector<std::string>& paths :
       {std::vector{folder.path(), packed}, std::vector{packed, folder.path()}}) {
    const auto found = discover(paths);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->files.size(), 2u);
    EXPECT_TRUE(found->skipped.empty());
  }
}

TEST(Discover, TakesTheLastAttemptOfARun) {
  const TempFolder folder;
  for (const char* name :
       {"run.json", "attempt-0/rank00000/events.scope", "attempt-2/rank00000/events.scope",
        "attempt-10/rank00000/events.scope", "attempt-10/rank00000/trace-0.json.gz.partial",
        "attempt-10/node-a/system.scope", "attempt-11/attempt.txt", "report/steps.json"}) {
    folder.write(name, "{}");
  }
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  EXPECT_THAT(paths_of(*found, folder),
              ElementsAre("attempt-10/node-a/system.scope", "attempt-10/rank00000/events.scope",
                          "attempt-10/rank00000/trace-0.json.gz.partial", "run.json"));
  EXPECT_THAT(found->earlier_attempts, ElementsAre(folder / "attempt-2", folder / "attempt-0"));
  const auto named = discover({folder / "attempt-0"});
  ASSERT_TRUE(named);
  EXPECT_THAT(paths_of(*named, folder), ElementsAre("attempt-0/rank00000/events.scope"));
  EXPECT_THAT(named->earlier_attempts, IsEmpty());
}

constexpr const char* kRunFile = R"({"schema": "stepscope.run/1", "id": "x"})";

TEST(Discover, AFolderOfSeveralRunsIsNoRun) {
  const TempFolder folder;
  for (const std::string run : {"b", "a", "deep/c"}) {
    folder.write(run + "/run.json", kRunFile);
    folder.write(run + "/attempt-0/rank00000/events.scope", "{}");
  }
  const auto found = discover({folder.path()});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(found.error().message,
              testing::HasSubstr("this folder holds 3 runs: a, b, deep/c; name one, as in "
                                 "`stepscope report " +
                                 (folder / "a") + "`"));
  // One of them, or the folder of one alone, opens.
  EXPECT_EQ(discover({folder / "a"})->files.size(), 2u);
  EXPECT_EQ(discover({folder / "deep"})->files.size(), 2u);
}

TEST(Discover, TwoRunsAreNotReadAsOne) {
  const TempFolder folder;
  for (const std::string run : {"monday", "tuesday", "node1", "node2"}) {
    const std::string id = run.starts_with("node") ? "exp1" : run;
    folder.write(run + "/run.json", R"({"schema": "stepscope.run/1", "id": ")" + id + R"("})");
    folder.write(run + "/attempt-0/rank00000/events.scope", "{}");
  }
  const auto found = discover({folder / "monday", folder / "tuesday"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(found.error().message, testing::HasSubstr("are two runs"));
  EXPECT_THAT(found.error().message, testing::HasSubstr("`stepscope diff " + (folder / "monday") +
                                                        " " + (folder / "tuesday") + "`"));
  // What two nodes wrote of one run, a run and a file of it, the same folder twice.
  EXPECT_EQ(discover({folder / "node1", folder / "node2"})->files.size(), 4u);
  EXPECT_TRUE(discover({folder / "monday", folder / "monday"}));
  EXPECT_TRUE(discover({folder / "monday", folder / "tuesday/attempt-0/rank00000/events.scope"}));
}

TEST(Discover, ARunWithinARunIsLeftOut) {
  const TempFolder folder;
  folder.write("run.json", kRunFile);
  folder.write("attempt-0/rank00000/events.scope", "{}");
  folder.write("later/run.json", kRunFile);
  folder.write("later/attempt-0/rank00000/events.scope", "{}");
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  EXPECT_THAT(paths_of(*found, folder),
              ElementsAre("attempt-0/rank00000/events.scope", "run.json"));
  ASSERT_EQ(found->skipped.size(), 1u);
  EXPECT_EQ(found->skipped[0].path, folder / "later");
}

TEST(Discover, SomebodyElsesRunJsonMakesNoRun) {
  const TempFolder folder;
  for (const char* name : {"rank0/run.json", "rank1/run.json"}) folder.write(name, "{\"id\": 1}");
  folder.write("rank0/trace.json", "{}");
  folder.write("rank1/trace.json", "{}");
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files.size(), 4u);
}

// A file that is being packed is there twice for a moment.
TEST(Discover, TakesOneOfAFileAndItsUnfinishedTwin) {
  const TempFolder folder;
  folder.write("trace-0.json", "{}");
  folder.write("trace-0.json.gz.partial", "{}");
  folder.write("trace-1.json.partial", "{}");
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  EXPECT_THAT(paths_of(*found, folder), ElementsAre("trace-0.json", "trace-1.json.partial"));
}

TEST(Discover, ReportsABrokenLinkWithATraceName) {
  const TempFolder folder;
  folder.write("rank0.json", "{}");
  std::filesystem::create_symlink(folder / "gone", folder / "rank1.json");
  const auto found = discover({folder.path()});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->failures.size(), 1u);
  EXPECT_EQ(found->failures[0].path, folder / "rank1.json");
}

TEST(Discover, FailsOnPathsThatDoNotExist) {
  const TempFolder folder;
  const auto found = discover({folder / "nothing.json"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::kNotFound);
  EXPECT_EQ(found.error().message, (folder / "nothing.json") + ": No such file or directory");
}

TEST(Discover, WaitsForNoPipeWhereItIsHeldToAFolder) {
  const TempFolder folder;
  const std::string pipe = folder / "rank0.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(discover({pipe}));  // a user who names it in the terminal wants it
  const auto found = discover({pipe}, std::filesystem::canonical(folder.path()).string());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::kNotFound);
}

TEST(Discover, ReadsStandardInputOnce) {
  EXPECT_TRUE(discover({"-"}));
  EXPECT_FALSE(discover({"-", "-"}));
}

TEST(Discover, TellsWhichFolderCannotBeListed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may list every folder";
  const TempFolder folder;
  folder.write("rank0.json", "{}");
  folder.write("closed/rank1.json", "{}");
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::none);
  const auto found = discover({folder.path()});
  const auto named = discover({folder / "closed"});
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_all);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->failures.size(), 1u);
  EXPECT_FALSE(named);
}

}  // namespace

}  // namespace stepscope::session
