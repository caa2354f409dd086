// Opening runs: traces, snapshots, samples, ranks, errors and limits.
#include "session/session.h"

#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::session {
namespace {

using base::TempFolder;

using base::Note;
using testing::ElementsAre;
using testing::HasSubstr;

std::string trace_text(std::int64_t start_us, const std::string& header = "") {
  return "{" + header +
         R"("traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" +
         std::to_string(start_us) + R"(,"dur":10}]})";
}

std::string rank_text(int rank, std::int64_t start_us) {
  return trace_text(start_us, R"("distributedInfo":{"rank":)" + std::to_string(rank) + "},");
}

// The same by a clock that all machines share.
std::string dated_text(int rank, std::int64_t start_us) {
  return trace_text(start_us, R"("baseTimeNanoseconds":1700000000000000000,)"
                              R"("distributedInfo":{"rank":)" +
                                  std::to_string(rank) + "},");
}

std::vector<std::string> shape_of(const trace::Run& run, const TempFolder& folder) {
  std::vector<std::string> shape;
  for (const trace::RankTraces& rank : run.ranks) {
    for (const trace::Window& window : rank.windows) {
      shape.push_back(std::to_string(rank.rank.value) + " " +
                      window.source.path.substr(folder.path().size() + 1));
    }
  }
  return shape;
}

TEST(Session, PutsWindowsUnderTheirRanksInOrderOfTime) {
  const TempFolder folder;
  folder.write("late.json", rank_text(0, 500));
  folder.write("zero.json", rank_text(0, 100));
  folder.write("one.json", rank_text(1, 100));
  const auto recording = open({folder.path()}, {});
  ASSERT_TRUE(recording);
  EXPECT_THAT(shape_of(recording->run, folder),
              ElementsAre("0 zero.json", "0 late.json", "1 one.json"));
  EXPECT_EQ(recording->run.log.count(Note::kSeveralWindows), 1u);
  EXPECT_EQ(recording->run.log.count(Note::kRankConflict), 0u);
  EXPECT_FALSE(notes_of(*recording).lost_data());
}

const std::string kSnapshot = "\x80\x04}(\x8c\x08segments]u.";

TEST(Session, SortsTracesFromSnapshotsByContent) {
  const TempFolder folder;
  folder.write("rank3.json", rank_text(3, 100));
  folder.write("memory/rank3.pickle", kSnapshot);
  folder.write("memory/rank1.pkl", kSnapshot);
  folder.write("other.pkl", "\x80\x04}(\x8c\x09pg_config]u.");
  folder.write("weights.pickle", "\x80\x04}.");
  const auto recording = open({folder.path()}, {});
  ASSERT_TRUE(recording);
  EXPECT_THAT(shape_of(recording->run, folder), ElementsAre("3 rank3.json"));
  ASSERT_EQ(recording->snapshots.size(), 2u);
  EXPECT_EQ(recording->snapshots[0].rank, 1);
  EXPECT_EQ(recording->snapshots[1].rank, 3);
  ASSERT_EQ(recording->run.skipped.size(), 2u);
  EXPECT_THAT(recording->run.skipped[0].why, HasSubstr("NCCL flight recorder"));
  EXPECT_FALSE(notes_of(*recording).lost_data());
}

TEST(Session, OpensSnapshotsAlone) {
  const TempFolder folder;
  const std::string before = folder.write("before.pickle", kSnapshot);
  const std::string after = folder.write("after.pickle", kSnapshot.substr(0, 15));
  const auto recording = open({before, after}, {});
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->run.ranks.empty());
  ASSERT_EQ(recording->snapshots.size(), 2u);
  EXPECT_EQ(recording->snapshots[0].source.path, before);
  EXPECT_FALSE(recording->snapshots[0].rank.has_value());
  EXPECT_TRUE(notes_of(*recording).lost_data());  // one was cut short
}

TEST(Session, NotesProcessesThatClaimOneRankAtOneTime) {
  const TempFolder folder;
  folder.write("a.json", rank_text(0, 100));
  folder.write("b.json", rank_text(0, 105));
  const auto recording = open({folder.path()}, {});
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->run.log.count(Note::kRankConflict), 1u);
  EXPECT_THAT(recording->run.log[Note::kRankConflict].detail, HasSubstr("b.json"));
}

TEST(Session, NotesRanksThatWereRecordedLongAfterEachOther) {
  const TempFolder folder;
  folder.write("a.json", dated_text(0, 100));
  folder.write("b.json", dated_text(1, 599'000'000));
  const auto near = open({folder.path()}, {});
  ASSERT_TRUE(near);
  EXPECT_EQ(near->run.log.count(Note::kRanksApart), 0u);
  folder.write("c.json", dated_text(2, 3 * 3'600'000'000));
  const auto apart = open({folder.path()}, {});
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->run.log.count(Note::kRanksApart), 1u);
  EXPECT_THAT(apart->run.log[Note::kRanksApart].detail,
              testing::AllOf(HasSubstr("a.json"), HasSubstr("c.json: 3 hours apart")));
}

TEST(Session, FilesThatSayNoRankAreRanksAtTheSameTimeOnly) {
  const TempFolder folder;
  const auto dated = [](std::int64_t start_us) {
    return trace_text(start_us, R"("baseTimeNanoseconds":1700000000000000000,)");
  };
  folder.write("fast.json", dated(100));
  folder.write("slow.json", dated(1'000'000));
  const auto near = open({folder.path()}, {});
  ASSERT_TRUE(near);
  EXPECT_EQ(near->run.log.count(Note::kRanksApart), 0u);
  folder.write("tiny.json", dated(30'000'000));
  const auto apart = open({folder.path()}, {});
  ASSERT_TRUE(apart);
  EXPECT_THAT(apart->run.log[Note::kRanksApart].detail, HasSubstr("tiny.json: 30 seconds apart"));
}

// What makes two files ranks, or windows, of one run, though 30 seconds lie between them.
TEST(Session, FilesOfWhichMoreIsKnownMayBeHalfAMinuteApart) {
  struct Case {
    std::string first, second;            // names
    std::string first_says, second_says;  // in the header
  };
  const Case cases[] = {
      {"rank0.json", "rank1.json", "", ""},
      {"trace_0.json", "trace_1.json", "", ""},
      {"trace_step10.json", "trace_step20.json", "", ""},
      {"epoch-1.json.gz", "epoch-2.json.gz", "", ""},
      {"n1_7.1700000000000.pt.trace.json", "n2_9.1700000030000.pt.trace.json", "", ""},
      {"fast.json", "slow.json", R"("host_name":"n1",)", R"("host_name":"n2",)"},
      {"fast.json", "slow.json", R"("distributedInfo":{"rank":1},)", ""},
  };
  for (const Case& one : cases) {
    const TempFolder folder;
    const auto dated = [](std::int64_t start_us, const std::string& header) {
      return trace_text(start_us, R"("baseTimeNanoseconds":1700000000000000000,)" + header);
    };
    folder.write(one.first, dated(100, one.first_says));
    folder.write(one.second, dated(30'000'000, one.second_says));
    const auto recording = open({folder.path()}, {});
    ASSERT_TRUE(recording);
    EXPECT_EQ(recording->run.ranks.size(), 2u) << one.first;
    EXPECT_EQ(recording->run.log.count(Note::kRanksApart), 0u) << one.first;
  }
}

// A rank has two files, one beside the other rank's and one of another day.
TEST(Session, NotesAWindowThatIsFarFromAllOtherRanks) {
  const TempFolder folder;
  folder.write("a.json", dated_text(0, 100));
  folder.write("b.json", dated_text(1, 100));
  folder.write("c.json", dated_text(0, 3 * 3'600'000'000));
  const auto apart = open({folder.path()}, {});
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->run.log.count(Note::kRanksApart), 1u);
  EXPECT_THAT(apart->run.log[Note::kRanksApart].detail, HasSubstr("c.json: 3 hours apart"));
  folder.write("d.json", dated_text(1, 3 * 3'600'000'000));  // both were recorded twice
  const auto twice = open({folder.path()}, {});
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->run.log.count(Note::kRanksApart), 0u);
}

TEST(Session, GivesTheSameRunAtAnyThreadCount) {
  const TempFolder folder;
  for (int i = 0; i < 20; ++i)
    folder.write("t" + std::to_string(i) + ".json", rank_text(i % 7, i * 50));
  OpenOptions options;
  const auto one = open({folder.path()}, options);
  options.threads = 8;
  const auto eight = open({folder.path()}, options);
  ASSERT_TRUE(one && eight);
  EXPECT_EQ(shape_of(one->run, folder), shape_of(eight->run, folder));
}

TEST(Session, ReportsFilesOfAFolderThatFailAndGoesOn) {
  const TempFolder folder;
  folder.write("rank0.json", trace_text(1));
  folder.write("rank1.json", "");
  folder.write("config.json", R"({"lr": 1})");
  const auto recording = open({folder.path()}, {});
  ASSERT_TRUE(recording);
  EXPECT_THAT(shape_of(recording->run, folder), ElementsAre("0 rank0.json"));
  ASSERT_EQ(recording->run.failures.size(), 1u);
  EXPECT_EQ(recording->run.failures[0].path, folder / "rank1.json");
  ASSERT_EQ(recording->run.skipped.size(), 1u);
  EXPECT_EQ(recording->run.log.count(Note::kUnreadableFile), 1u);
  EXPECT_EQ(recording->run.log.count(Note::kSkippedFile), 1u);
  EXPECT_TRUE(notes_of(*recording).lost_data());
}

TEST(Session, FailsWhereAFileWasNamedOrNothingIsLeft) {
  const TempFolder folder;
  const std::string good = folder.write("good.json", trace_text(1));
  const std::string bad = folder.write("empty/bad.json", "");
  EXPECT_TRUE(open({good}, {}));
  EXPECT_FALSE(open({good, bad}, {}));
  EXPECT_FALSE(open({folder / "empty"}, {}));
  EXPECT_FALSE(open({folder / "nothing"}, {}));
}

TEST(Session, ASingleFileWithoutRankIsNothingOdd) {
  const TempFolder folder;
  const auto recording = open({folder.write("trace.json", trace_text(1))}, {});
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->run.log.count(Note::kRankFromOrder), 0u);
  EXPECT_EQ(recording->run.ranks.front().windows.front().source.encoding, "plain");
  EXPECT_EQ(recording->run.ranks.front().windows.front().source.text_bytes, trace_text(1).size());
}

TEST(Session, StopsWhenTold) {
  const TempFolder folder;
  const std::string path = folder.write("trace.json", trace_text(1));
  const std::atomic<bool> stop{true};
  OpenOptions options;
  options.stop = &stop;
  const auto recording = open({path}, options);
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().code, base::Code::kCancelled);
}

TEST(Session, ReportsProgressUpToTheEnd) {
  const TempFolder folder;
  for (int i = 0; i < 3; ++i) folder.write("rank" + std::to_string(i) + ".json", trace_text(1));
  OpenOptions options;
  options.threads = 2;
  Progress last;
  options.progress = [&](const Progress& progress) { last = progress; };
  ASSERT_TRUE(open({folder.path()}, options));
  EXPECT_EQ(last.files_done, 3u);
  EXPECT_EQ(last.files_total, 3u);
  EXPECT_EQ(last.bytes_done, last.bytes_total);
  EXPECT_GT(last.bytes_total, 0u);
}

}  // namespace
}  // namespace stepscope::session
