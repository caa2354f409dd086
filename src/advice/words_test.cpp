// What findings and verdicts say: of what each figure is, whose it is, and that one finding does
// not contradict itself.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

bool says_words(const Sentence& sentence, std::string_view words) {
  return sentence.form.find(words) != std::string::npos;
}

// Whether the text has this length of time.
bool has_nanos(const Sentence& sentence, double ns) {
  return std::ranges::any_of(sentence.figures, [&](const Figure& figure) {
    return figure.unit == base::Unit::kNanos && std::abs(figure.value - ns) < 1;
  });
}

TEST(Words, TheTimeInATextIsTheShareOfItsTitle) {
  Answers copies;
  copies.steps().stall("upload", 4'000'000, {{"copy_ns", 4'000'000}});
  copies.add("transfers", "classes",
             {{"rank", 0},
              {"kind", "HtoD"},
              {"host_memory", "pageable"},
              {"count", 4},
              {"bytes", 1 << 30},
              {"median_bytes", 1 << 28},
              {"copy_ns", 4'000'000},
              {"bytes_per_second", 16'000'000'000}});
  Answers loader;
  loader.steps().stall("input", 3'000'000, {{"inside_ns", 4 * 2'500'000}, {"host_ns", 10'400'000}});
  loader.add("dataloader", "loaders", {{"rank", 0}, {"loader", "x"}, {"sum_ns", 12'000'000}});
  const Answers save = Answers().steps().stall("save", 2'000'000, {{"copy_ns", 4'000'000}});
  const struct {
    const Answers& answers;
    std::string_view rule;
    double own_ns;
  } cases[] = {{copies, "slow-transfers", 5'000'000},
               {loader, "input-bound", 3'000'000},
               {save, "checkpoint-stall", 3'000'000}};
  for (const auto& c : cases) {
    const Advice advice = c.answers.advise();
    const Finding* finding = finding_of(advice, c.rule);
    ASSERT_NE(finding, nullptr) << c.rule;
    EXPECT_DOUBLE_EQ(finding->measured.value * finding->measured.whole_ns, c.own_ns) << c.rule;
    EXPECT_DOUBLE_EQ(finding->title.figures.front().value, finding->measured.value) << c.rule;
    EXPECT_TRUE(has_nanos(finding->detail, c.own_ns)) << c.rule;
  }
}

// Steps of 10 ms on two ranks, the second as long as asked.
Answers two_ranks(std::int64_t sync_of_0, std::int64_t sync_of_1, double second_ns = 12e6) {
  Answers answers;
  answers.steps().stall("sync", sync_of_0);
  answers.add("steps", "times",
              {{"rank", 1}, {"steps", 4}, {"mean_ns", second_ns}, {"median_ns", 12'000'000}});
  answers.stall("sync", sync_of_1, {{"rank", 1}});
  return answers;
}

TEST(Words, AFindingOfSomeRanksNamesThem) {
  const auto title = [](const Answers& answers) {
    const Advice advice = answers.advise();
    const Finding* finding = finding_of(advice, "host-sync");
    const std::string& form = finding->title.form;
    const std::size_t at = form.rfind('(');
    return at == std::string::npos ? std::string() : form.substr(at);
  };
  EXPECT_EQ(title(two_ranks(4'000'000, 1'000)), "(rank 0)");
  EXPECT_EQ(title(two_ranks(1'000, 4'000'000)), "(rank 1)");
  EXPECT_EQ(title(two_ranks(4'000'000, 4'000'000)), "");  // of all
  EXPECT_EQ(title(Answers().steps().stall("sync", 4'000'000)), "");
  const Advice both = two_ranks(4'000'000, 4'000'000).advise();
  EXPECT_NE(finding_of(both, "host-sync")->measured.name.find("rank 0, the worst"),
            std::string::npos);
}

TEST(Words, TheStepOfAVerdictIsThatOfTheSlowestRank) {
  const Advice advice = two_ranks(4'000'000, 4'000'000).advise();
  const auto step = std::ranges::find_if(
      advice.verdict, [](const Sentence& one) { return says_words(one, "A recorded step takes"); });
  ASSERT_NE(step, advice.verdict.end());
  EXPECT_TRUE(says_words(*step, "on average on rank {}, the slowest"));
  EXPECT_EQ(step->figures[1].value, 1);
}

// A run of 50 steps of 8 ms, of which the trace holds four of 10 ms; its traced steps may be shown
// as warm-up.
Advice traced_run(std::int64_t iterations, std::int64_t traced) {
  return Answers()
      .steps()
      .stall("sync", 4'000'000)
      .add("throughput", "phases",
           {{"rank", 0},
            {"phase", "training"},
            {"iterations", iterations},
            {"traced", traced},
            {"measured", iterations - 4},
            {"iterations_per_second", 125.0}})
      .advise();
}

TEST(Words, AVerdictSaysThatItsStepsWereTraced) {
  const auto any = [](const Advice& advice, std::string_view words) {
    return std::ranges::any_of(
        advice.verdict, [&](const Sentence& sentence) { return says_words(sentence, words); });
  };
  for (const std::int64_t traced : {4, 0}) {
    const Advice advice = traced_run(50, traced);
    EXPECT_TRUE(any(advice, "A traced step takes {} on average")) << traced;
    EXPECT_TRUE(any(advice, "others, without warm-up, take {} on average")) << traced;
  }
  const Advice all_there_is = traced_run(4, 0);
  EXPECT_TRUE(any(all_there_is, "A recorded step takes {} on average"));
  EXPECT_FALSE(any(all_there_is, "traced"));
}

TEST(Words, HealthyIsSaidOnlyWhereNothingCanBeGained) {
  const auto first = [](std::int64_t launching_ns) {
    Answers answers;
    answers.steps().stall("launch", launching_ns, {{"inside_ns", 0}}).rest();  // no recording in it
    answers.add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}});
    const Advice advice =
        answers.advise({{"launch-bound.warning", 0.8}, {"launch-bound.critical", 0.9}});
    EXPECT_TRUE(advice.healthy);  // no warning, for programs
    return advice.verdict.front().form;
  };
  EXPECT_TRUE(first(1).starts_with("Healthy"));
  EXPECT_TRUE(first(1'200'000).starts_with("No grave fault"));
  // A finding that may save more than a fifth of the step is not waved away.
  EXPECT_TRUE(first(6'000'000).starts_with(
      "None of {} rules gives a warning, but the first finding below"));
}

TEST(Words, SelectingByAMaskIsToldWhatToDoInstead) {
  const auto first_change = [](std::string_view op) {
    Answers answers;
    answers.steps().stall("sync", 2'000'000);
    answers.add("stalls", "places",
                {{"rank", 0}, {"stall", "sync"}, {"op", op}, {"waits", 8}, {"idle_ns", 8'000'000}});
    const Advice advice = answers.advise();
    return finding_of(advice, "host-sync")->changes.front().why;
  };
  EXPECT_TRUE(first_change("aten::index").starts_with("Selecting by a mask"));
  EXPECT_TRUE(first_change("aten::item").starts_with("Keep the values on the GPU"));
}

TEST(Words, WorkersThatRecordedThemselvesMakeTheBatch) {
  const auto advised = [](std::string_view where) {
    Answers answers;
    answers.steps().no_device_work();
    answers.add("dataloader", "ranks", {{"rank", 0}, {"wait_ns", 16'000'000}});
    answers.add("dataloader", "loaders",
                {{"rank", 0}, {"loader", "DataLoader"}, {"fetches", 4}, {"sum_ns", 16'000'000}});
    answers.add("stalls", "kinds", {{"rank", 0}, {"stall", "input"}});
    answers.add("time", "ranges",
                {{"rank", 0},
                 {"where", where},
                 {"range", "decode"},
                 {"calls", 192},
                 {"total_ns", 109'000'000},
                 {"mean_ns", 566'000.0}});
    return answers.advise();
  };
  const Advice with = advised("worker processes");
  ASSERT_NE(finding_of(with, "input-bound"), nullptr);
  EXPECT_TRUE(says_words(finding_of(with, "input-bound")->detail, "The loader has workers"));
  EXPECT_TRUE(says_words(finding_of(with, "input-bound")->detail, "calls of '{}', {} on average"));
  const Advice without = advised("main thread");
  EXPECT_TRUE(says_words(finding_of(without, "input-bound")->detail, "is not recorded"));
}

}  // namespace
}  // namespace stepscope::advice
