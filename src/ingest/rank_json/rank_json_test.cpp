#include "ingest/rank_json/rank_json.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::ingest::rank_json {
namespace {

TEST(RankJson, SaysWhatWasRecordedAndHowItEnded) {
  const auto record = parse(R"({"schema": "stepscope.rank/1", "rank": 3, "attempt": 1,
      "host": "node1", "pid": 17, "start_ns": 1700000000000000000,
      "windows": [{"kind": "trace", "first_step": 11, "steps": 3, "closed": "complete",
                   "files": ["trace-0.json.gz"], "cost_ns": {"start": 5, "stop": 7, "export": 11}},
                  {"kind": "snapshot", "whole": false}],
      "warnings": [{"text": "too short", "time_ns": 9}],
      "error": {"type": "ValueError", "text": "loss is nan", "step": 12},
      "finished": "exception", "steps": 12, "epochs": 0, "later": {}})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->rank, 3);
  ASSERT_EQ(record->windows.size(), 2u);
  EXPECT_EQ(record->windows[0].first_step, 11);
  EXPECT_EQ(record->windows[0].cost_ns(), 23);
  EXPECT_EQ(record->windows[0].files.size(), 1u);
  EXPECT_EQ(record->windows[1].whole, false);
  ASSERT_EQ(record->warnings.size(), 1u);
  EXPECT_EQ(record->warnings[0].text, "too short");
  EXPECT_EQ(record->error->step, 12);
  EXPECT_EQ(record->finished, "exception");
  EXPECT_EQ(record->steps, 12u);
}

TEST(RankJson, OfAKilledProcessHasNoEnd) {
  const auto record = parse(R"({"schema": "stepscope.rank/1", "windows": [], "warnings": []})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->finished, "");
  EXPECT_FALSE(record->steps);
  EXPECT_FALSE(record->error);
}

TEST(RankJson, HoldsHowTheProgramEndedWhoeverToldIt) {
  struct Case {
    std::string reported, program, finished;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", R"({"status": 137, "signal": "SIGKILL"})", "SIGKILL"},
           {"", R"({"status": 3})", "status 3"},
           {"", R"({"status": 0})", ""},  // it left without a word
           {"exit", R"({"status": 0})", "exit"},
           {"exit", R"({"status": 3})", "status 3"},
           {"stop", R"({"status": 137, "signal": "SIGKILL"})", "SIGKILL"},
           {"exception", R"({"status": 1})", "exception"},
           {"status 3", "{}", "status 3"},
           {"status 3", R"({"status": 1})", "status 1"},  // torchrun's, of a rank that returned 3
           {"status 3", R"({"status": 0})", "exit"},      // caught
           {"SIGTERM", R"({"status": 143, "signal": "SIGTERM"})", "SIGTERM"},
           {"exit", "{}", "exit"},
           {"", "7", ""},
           {"", R"({"status": "1", "signal": 9})", ""}}) {
    SCOPED_TRACE(c.reported + " " + c.program);
    const auto record = parse(R"({"schema": "stepscope.rank/1", "finished": ")" + c.reported +
                              R"(", "program": )" + c.program + "}");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->finished, c.finished);
  }
}

TEST(RankJson, MembersOfAnotherKindAreLeftOut) {
  const auto record = parse(R"({"schema": "stepscope.rank/1", "rank": "zero", "steps": -1,
      "windows": [7, {"kind": 5, "files": [1, "a"], "steps": 1e9, "first_step": 18446744073709551615,
                      "cost_ns": {"stop": -4, "start": 9223372036854775807, "export": 2}}],
      "warnings": {"text": "x"}, "error": "x", "finished": null, "pid": 18446744073709551615})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->rank, 0);
  EXPECT_FALSE(record->steps);
  ASSERT_EQ(record->windows.size(), 1u);
  EXPECT_EQ(record->windows[0].files, std::vector<std::string>{"a"});
  EXPECT_EQ(record->windows[0].cost_ns(), 2);
  EXPECT_EQ(record->windows[0].first_step, 0);
  EXPECT_TRUE(record->warnings.empty());
  EXPECT_FALSE(record->error);
}

TEST(RankJson, OfAnotherFormIsAnError) {
  for (const std::string wrong :
       {"", "[]", "{", R"({"rank": 0})", R"({"schema": "stepscope.rank/2"})", R"({"schema": 1})"}) {
    SCOPED_TRACE(wrong);
    EXPECT_FALSE(parse(wrong));
  }
}

}  // namespace
}  // namespace stepscope::ingest::rank_json
