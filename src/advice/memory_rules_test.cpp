// Rules about memory, and what stands above and below the findings.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;
constexpr std::int64_t kMemoryRulesMiB = 1 << 20;

TEST(MemoryPressure, ByTheShareOfTheDevice) {
  const auto held = [](std::int64_t percent) {
    return Answers()
        .add("overview", "devices",
             {{"rank", 0},
              {"device", 0},
              {"peak_reserved_bytes", percent * kMemoryRulesMiB},
              {"memory_bytes", 100 * kMemoryRulesMiB}})
        .advise();
  };
  EXPECT_EQ(finding_of(held(84), "memory-pressure"), nullptr);
  EXPECT_EQ(finding_of(held(85), "memory-pressure")->level, Level::kNotice);
  EXPECT_EQ(finding_of(held(93), "memory-pressure")->level, Level::kWarning);
  EXPECT_EQ(finding_of(held(99), "memory-pressure")->level, Level::kCritical);
}

TEST(MemoryPressure, OfASnapshotWhoseDeviceIsKnown) {
  const auto peak = [](base::Cell memory) {
    return Answers()
        .add("memory-oom", "headroom",
             {{"rank", 0},
              {"device", 0},
              {"peak_reserved_bytes", 95 * kMemoryRulesMiB},
              {"device_memory_bytes", memory}})
        .advise();
  };
  EXPECT_NE(finding_of(peak(100 * kMemoryRulesMiB), "memory-pressure"), nullptr);
  EXPECT_EQ(finding_of(peak(base::Null{}), "memory-pressure"), nullptr);
}

TEST(MemoryPressure, NamesALimitOfTheProcessAsSuch) {
  const Advice advice = Answers()
                            .add("memory-oom", "headroom",
                                 {{"rank", 0},
                                  {"device", 0},
                                  {"peak_reserved_bytes", 95 * kMemoryRulesMiB},
                                  {"device_memory_bytes", 9000 * kMemoryRulesMiB},
                                  {"own_limit_bytes", 100 * kMemoryRulesMiB}})
                            .advise();
  const Finding* finding = finding_of(advice, "memory-pressure");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.form.find("the process may take"), std::string::npos);
  EXPECT_NE(finding->changes[0].code.find("set_per_process_memory_fraction"), std::string::npos);
}

// A trace tells of it, and two snapshots do.
TEST(MemoryPressure, ListsADeviceOnce) {
  Answers answers;
  answers.add("overview", "devices",
              {{"rank", 0},
               {"device", 0},
               {"peak_reserved_bytes", 95 * kMemoryRulesMiB},
               {"memory_bytes", 100 * kMemoryRulesMiB}});
  for (const std::int64_t held : {98, 96}) {
    answers.add("memory-oom", "headroom",
                {{"rank", 0},
                 {"device", 0},
                 {"peak_reserved_bytes", held * kMemoryRulesMiB},
                 {"device_memory_bytes", 100 * kMemoryRulesMiB}});
  }
  answers.add("memory-oom", "headroom",
              {{"rank", 0},
               {"device", 1},
               {"peak_reserved_bytes", 90 * kMemoryRulesMiB},
               {"device_memory_bytes", 100 * kMemoryRulesMiB}});
  const Advice advice = answers.advise();
  const Finding* finding = finding_of(advice, "memory-pressure");
  ASSERT_NE(finding, nullptr);
  ASSERT_EQ(finding->evidence.size(), 2U);
  EXPECT_EQ(finding->evidence[0].text.figures[0].value, 0);
  EXPECT_EQ(finding->evidence[0].text.figures[1].value, 98 * kMemoryRulesMiB);  // the most
  EXPECT_EQ(finding->evidence[1].text.figures[0].value, 1);
  EXPECT_EQ(finding->ranks, std::vector<std::int32_t>{0});
}

Answers leaking(const char* confidence, base::Cell until_full) {
  Answers answers;
  answers.add(
      "memory-leaks", "outlook",
      {{"rank", 0}, {"bytes_per_step", 32 * kMemoryRulesMiB}, {"steps_until_full", until_full}});
  answers.add("memory-leaks", "leaks",
              {{"rank", 0},
               {"where", "train.py:7 step"},
               {"bytes_per_step", 32 * kMemoryRulesMiB},
               {"confidence", confidence},
               {"category", "activations"},
               {"in_steps", 6},
               {"of_steps", 6}});
  return answers;
}

TEST(MemoryLeak, GraverWhereMemoryIsSoonFull) {
  EXPECT_EQ(finding_of(leaking("high", base::Null{}).advise(), "memory-leak")->level,
            Level::kWarning);
  EXPECT_EQ(finding_of(leaking("high", 999).advise(), "memory-leak")->level, Level::kCritical);
  EXPECT_EQ(finding_of(leaking("high", 1000).advise(), "memory-leak")->level, Level::kWarning);
  EXPECT_EQ(finding_of(leaking("low", 10).advise(), "memory-leak")->level, Level::kNotice);
}

TEST(MemoryLeak, AdvisesToKeepDetachedTensorsAndSaysWhichStepsTell) {
  const Advice advice = leaking("high", base::Null{}).advise();
  const Finding* finding = finding_of(advice, "memory-leak");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->changes[1].why.find("may be kept elsewhere"), std::string::npos);
  EXPECT_NE(finding->detail.form.find("the first and the last cannot tell"), std::string::npos);
  EXPECT_NE(finding->changes.front().code.find("loss.detach()"), std::string::npos);
  EXPECT_EQ(finding->changes.front().code.find(".item()"), std::string::npos);  // it waits
}

TEST(MemoryLeak, NoneWhereNothingIsLeftBehind) {
  const Advice advice =
      Answers().add("memory-leaks", "outlook", {{"rank", 0}, {"bytes_per_step", 0}}).advise();
  EXPECT_EQ(finding_of(advice, "memory-leak"), nullptr);
  EXPECT_TRUE(std::ranges::none_of(advice.not_judged,
                                   [](const NotJudged& one) { return one.rule == "memory-leak"; }));
}

Answers settings(const char* setting, std::int64_t peak_mib, std::int64_t saved_mib) {
  Answers answers;
  answers.add("memory-fragmentation", "moments",
              {{"rank", 0},
               {"snapshot", "a"},
               {"device", 0},
               {"moment", "most reserved"},
               {"reserved_bytes", (peak_mib + saved_mib) * kMemoryRulesMiB}});
  answers.add("memory-fragmentation", "settings",
              {{"rank", 0},
               {"snapshot", "a"},
               {"device", 0},
               {"setting", setting},
               {"peak_reserved_bytes", peak_mib * kMemoryRulesMiB},
               {"saved_bytes", saved_mib * kMemoryRulesMiB},
               {"failures", 0}});
  return answers;
}

TEST(MemoryFragmentation, ASettingThatNeedsMuchLess) {
  const Advice advice = settings("expandable_segments:True", 400, 600).advise();
  const Finding* finding = finding_of(advice, "memory-fragmentation");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_EQ(finding->changes[0].code, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
}

TEST(MemoryFragmentation, NotForLittleNorForWhatIsNoSetting) {
  for (const Answers& answers :
       {settings("expandable_segments:True", 1000, 40),
        settings("expandable_segments:True", 40, 60),
        settings("as recorded: torch's own", 400, 600), settings("without any gap", 400, 600)}) {
    EXPECT_EQ(finding_of(answers.advise(), "memory-fragmentation"), nullptr);
  }
}

TEST(MemoryOom, ComesFirstWithTheCheapestRemedy) {
  Answers answers;
  answers.steps().stall("input", 9'000'000);
  answers.add("dataloader", "loaders", {{"rank", 0}, {"loader", "x"}, {"sum_ns", 1}});
  answers.add("memory-oom", "headroom", {{"rank", 0}, {"snapshot", "a"}, {"device", 0}});
  answers.add("memory-oom", "failures",
              {{"rank", 0},
               {"snapshot", "a"},
               {"device", 0},
               {"failure", 1},
               {"asked_bytes", 16 * kMemoryRulesMiB},
               {"short_by_bytes", kMemoryRulesMiB},
               {"why", "device full"}});
  answers.add("memory-oom", "remedies",
              {{"rank", 0},
               {"snapshot", "a"},
               {"device", 0},
               {"failure", 1},
               {"way", "a smaller batch"},
               {"enough", "yes"},
               {"how", "half of it"}});
  answers.add("memory-oom", "remedies",
              {{"rank", 0},
               {"snapshot", "a"},
               {"device", 0},
               {"failure", 1},
               {"way", "hope"},
               {"enough", "no"},
               {"how", "none"}});
  const Advice advice = answers.advise();
  ASSERT_EQ(advice.findings.size(), 2U);
  EXPECT_EQ(advice.findings[0].rule, "memory-oom");
  ASSERT_EQ(advice.findings[0].changes.size(), 1U);
  EXPECT_EQ(advice.findings[0].changes[0].why, "a smaller batch (enough on its own): half of it.");
}

TEST(MemoryOom, NoneWhereNoRequestFailed) {
  const Advice advice =
      Answers().add("memory-oom", "headroom", {{"rank", 0}, {"failures", 0}}).advise();
  EXPECT_EQ(finding_of(advice, "memory-oom"), nullptr);
}

TEST(Verdict, ACutSnapshotIsNeverHealthyNotEvenWithANotice) {
  for (const std::int64_t held : {50, 86}) {
    const Answers answers = Answers().add("memory-oom", "headroom",
                                          {{"rank", 0},
                                           {"device", 0},
                                           {"peak_reserved_bytes", held * kMemoryRulesMiB},
                                           {"device_memory_bytes", 100 * kMemoryRulesMiB}});
    const auto advised = [&](bool lost) {
      return answers.advise({}, Framework::kPyTorch,
                            {.trace = false, .snapshot = true, .lost = lost ? "It is cut." : ""});
    };
    const Advice advice = advised(true);
    EXPECT_EQ(advice.findings.empty(), held == 50);
    EXPECT_FALSE(advice.healthy);
    ASSERT_FALSE(advice.verdict.empty());
    EXPECT_NE(advice.verdict[0].form.find("cannot be said"), std::string::npos);
    for (const Sentence& sentence : advice.verdict) {
      EXPECT_EQ(sentence.form.find("Healthy"), std::string::npos);
    }
    EXPECT_EQ(advised(false).verdict[0].form.find("cannot be said"), std::string::npos);
  }
}

TEST(Verdict, AHealthyRunIsToldItsCeiling) {
  Answers answers;
  answers.steps().stall("launch", 1'000).rest();
  answers.add("overview", "devices", {{"rank", 0}, {"busy_share", 0.99}});
  answers.add("mfu", "steps",
              {{"rank", 0}, {"mfu_share", 0.31}, {"known_share", 0.9}, {"arithmetic", "bf16"}});
  const Advice advice = answers.advise();
  EXPECT_TRUE(advice.healthy);
  ASSERT_EQ(advice.verdict.size(), 3U);
  EXPECT_NE(advice.verdict[0].form.find("Healthy"), std::string::npos);
  EXPECT_NE(advice.verdict[2].form.find("MFU"), std::string::npos);
}

TEST(Verdict, SaysWhatRemainsAfterTheFirstFix) {
  Answers answers;
  answers.steps().stall("sync", 4'000'000).stall("save", 3'000'000);
  const Advice advice = answers.advise();
  ASSERT_EQ(advice.findings.size(), 2U);
  EXPECT_FALSE(advice.findings[0].remaining);
  ASSERT_TRUE(advice.findings[1].remaining);
  // 10 ms less what the first saves at least.
  EXPECT_LE(advice.findings[1].remaining->high, 6'400'000);
}

TEST(Verdict, TooLittleIsNotHealthy) {
  const Advice advice =
      Answers()
          .steps()
          .add("operators", "tensor_cores", {{"rank", 0}, {"operators", "matrix products"}})
          .advise();
  EXPECT_LT(advice.judged, advice.not_judged.size());
  EXPECT_FALSE(advice.healthy);
  ASSERT_FALSE(advice.verdict.empty());
  EXPECT_NE(advice.verdict[0].form.find("Too little"), std::string::npos);
}

TEST(Advise, NothingRecordedIsSaid) {
  const Advice advice = Answers().advise();
  EXPECT_EQ(advice.judged, 0U);
  ASSERT_FALSE(advice.verdict.empty());
  EXPECT_NE(advice.verdict[0].form.find("Nothing could be judged"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::advice
