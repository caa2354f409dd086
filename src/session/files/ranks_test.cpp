// Which rank a file belongs to, rule by rule.
#include "session/files/ranks.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::session {
namespace {

struct PathCase {
  std::string path;
  std::optional<std::int32_t> rank;
};

const PathCase kPaths[] = {
    {"rank3.json", 3},
    {"rank_3.json.gz", 3},
    {"rank-3.pt.trace.json", 3},
    {"rank00003.json", 3},
    {"ddp_gloo_rank1.json.gz", 1},
    {"RANK7.json", 7},
    {"trace_r3_step5.json", 3},
    {"trace.r12.json", 12},
    {"worker3.1700000000000.pt.trace.json", 3},
    {"runs/iteration_10/rank5_trace.json.gz", 5},
    {"memory_snapshot/step_000000000010_exit/000003_step_10.pickle", 3},
    {"000000_step_10.pickle", 0},
    {"10_step_10.pickle", std::nullopt},  // may count anything
    {"000003_stem.pickle", std::nullopt},
    {"runs/rank4/trace.json", 4},
    {"runs/attempt-0/rank00002/trace-1.json.gz", 2},
    {"runs/rank4/rank6.json", 6},
    {"runs/attempt-0/rank00002/worker-123.scope", 2},
    {"runs/attempt-0/rank00002/worker-123.scope.partial", 2},
    {"worker-123.scope", std::nullopt},
    {"runs/rank4/deep/er/trace.json", 4},
    {"runs/r4/trace.json", std::nullopt},  // a run number as likely as a rank
    {"frank3.json", std::nullopt},         // part of another word
    {"local_rank3.json", std::nullopt},    // counts within one host
    {"ranking.json", std::nullopt},
    {"r2d2.json", std::nullopt},
    {"host_12345.1700000000000.pt.trace.json", std::nullopt},
    {"rank123456789.json", std::nullopt},  // no job is that large
    {"trace_3.json", std::nullopt},        // only by choose_ranks, with its neighbours
    {"", std::nullopt},
    {"-", std::nullopt},
};

TEST(Ranks, AreSpelledOutInPaths) {
  for (const PathCase& c : kPaths) {
    SCOPED_TRACE(c.path);
    EXPECT_EQ(rank_in_path(c.path), c.rank);
  }
}

struct Choice {
  std::int32_t rank;
  RankSource source;
};

struct ChoiceCase {
  std::string name;
  std::vector<RankedFile> files;
  std::vector<Choice> choices;
};

constexpr RankSource kHeader = RankSource::kHeader;
constexpr RankSource kFileName = RankSource::kFileName;
constexpr RankSource kOrder = RankSource::kOrder;

const ChoiceCase kChoices[] = {
    {"the file is believed before its name", {{"rank0.json", 5}}, {{5, kHeader}}},
    {"names, where files do not say",
     {{"rank1.json", {}}, {"rank2.json", {}}},
     {{1, kFileName}, {2, kFileName}}},
    {"order, where nothing says", {{"a.json", {}}, {"b.json", {}}}, {{0, kOrder}, {1, kOrder}}},
    {"order fills the gaps",
     {{"a.json", {}}, {"b.json", 0}, {"c.json", {}}},
     {{1, kOrder}, {0, kHeader}, {2, kOrder}}},
    {"trailing numbers of all",
     {{"d/trace_4.json", {}}, {"d/trace_7.json", {}}},
     {{4, kFileName}, {7, kFileName}}},
    {"one name without a number spoils it",
     {{"d/other.json", {}}, {"d/trace_7.json", {}}},
     {{0, kOrder}, {1, kOrder}}},
    {"numbers of steps are not ranks",
     {{"d/step_10.json", {}}, {"d/step_20.json", {}}},
     {{0, kOrder}, {1, kOrder}}},
    {"nor are numbers of settings",
     {{"resnet50_num_workers_0.json", {}}, {"resnet50_num_workers_4.json", {}}},
     {{0, kOrder}, {1, kOrder}}},
    {"a word that only ends like a setting is none",
     {{"resize_3.json", {}}, {"resize_5.json", {}}},
     {{3, kFileName}, {5, kFileName}}},
    {"times are not ranks",
     {{"t_1700000000000.json", {}}, {"t_1700000000001.json", {}}},
     {{0, kOrder}, {1, kOrder}}},
    {"a single file has no neighbours", {{"trace_3.json", {}}}, {{0, kOrder}}},
    {"trailing numbers must differ from known ranks",
     {{"t_1.json", {}}, {"t_2.json", {}}, {"x.json", 2}},
     {{0, kOrder}, {1, kOrder}, {2, kHeader}}},
    {"one TensorBoard worker is one rank",
     {{"h_11.1700000000000.pt.trace.json", {}},
      {"h_11.1700000009999.pt.trace.json.gz", {}},
      {"h_12.1700000000000.pt.trace.json", {}}},
     {{0, kOrder}, {0, kOrder}, {1, kOrder}}},
    {"a negative rank in the file is no rank", {{"rank3.json", -1}}, {{3, kFileName}}},
};

TEST(Ranks, AreChosenByHeaderThenNameThenOrder) {
  for (const ChoiceCase& c : kChoices) {
    SCOPED_TRACE(c.name);
    const std::vector<RankChoice> got = choose_ranks(c.files);
    ASSERT_EQ(got.size(), c.choices.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].rank, c.choices[i].rank) << c.files[i].path;
      EXPECT_EQ(got[i].source, c.choices[i].source) << c.files[i].path;
    }
  }
}

TEST(Ranks, OverlappingWindowsAreNamed) {
  EXPECT_EQ(overlap_in({{"a", 0, 10}, {"b", 10, 20}}), "");
  EXPECT_EQ(overlap_in({{"a", 0, 10}, {"b", 9, 20}}), "a and b");
  EXPECT_EQ(overlap_in({{"a", 0, 10}}), "");
}

}  // namespace
}  // namespace stepscope::session
