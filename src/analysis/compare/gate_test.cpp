// What a gate makes of figures: each outcome, and the case beside it that must not have it.
#include "analysis/compare/gate.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

RunSamples steps_of(double length, int count = 40) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values.push_back(length * (1 + 0.004 * ((i * 7) % 5 - 2)));
  RunSamples out{.name = "run", .samples = {}};
  out.samples[std::string(sample::kStepTime)] = {.values = values, .per_step = true};
  return out;
}

GateLimit step_limit(double share) {
  GateLimit limit = *named_limit(sample::kStepTime);
  limit.worse_share = share;
  return limit;
}

Outcome outcome_of(const GateLimit& limit, const RunSamples& before, const RunSamples& after) {
  return judge({.limits = {limit}}, std::vector{before}, std::vector{after}).front().outcome;
}

TEST(Gate, FailsWhatIsSurelyWorseThanAllowed) {
  EXPECT_EQ(outcome_of(step_limit(0), steps_of(100), steps_of(104)), Outcome::kFailed);
  EXPECT_EQ(outcome_of(step_limit(0.03), steps_of(100), steps_of(104)), Outcome::kPassed);
  EXPECT_EQ(outcome_of(step_limit(0), steps_of(100), steps_of(101.5)), Outcome::kPassed);
}

TEST(Gate, SaysWhoseFigureItIs) {
  GateLimit limit = *named_limit(sample::kExposedCommunication);
  limit.worse_by = 0.02;
  const auto run = [](std::optional<std::int64_t> rank) {
    RunSamples out = steps_of(100);
    out.samples[std::string(sample::kExposedCommunication)] = {
        .values = {0.9, 0.92, 0.91, 0.93}, .per_step = true, .rank = rank};
    return out;
  };
  const auto remark = [&](std::optional<std::int64_t> was, std::optional<std::int64_t> is) {
    return judge({.limits = {limit}}, std::vector{run(was)}, std::vector{run(is)}).front().remark;
  };
  EXPECT_EQ(remark(0, 0), "of rank 0, where it is largest");
  EXPECT_EQ(remark(1, 0), "of rank 0, where it is largest; it was of rank 1");
  EXPECT_EQ(remark(std::nullopt, std::nullopt), "");  // there is no other rank
}

TEST(Gate, SaysWhatIsBetter) {
  EXPECT_EQ(outcome_of(step_limit(0), steps_of(104), steps_of(100)), Outcome::kBetter);
}

TEST(Gate, ThroughputFallsWhenStepsGrow) {
  GateLimit limit = *named_limit(sample::kThroughput);
  limit.worse_share = 0;
  limit.factor = 64;
  const auto judged =
      judge({.limits = {limit}}, std::vector{steps_of(1e6)}, std::vector{steps_of(1.1e6)}).front();
  EXPECT_EQ(judged.outcome, Outcome::kFailed);
  EXPECT_NEAR(judged.change.before, 64'000, 1);
  EXPECT_EQ(outcome_of(limit, steps_of(1.1e6), steps_of(1e6)), Outcome::kBetter);
}

TEST(Gate, FewOrNoisyStepsAreUnsureAndPass) {
  EXPECT_EQ(outcome_of(step_limit(0), steps_of(100, 1), steps_of(200)), Outcome::kUnsure);
  RunSamples noisy;
  noisy.samples[std::string(sample::kStepTime)] = {.values = {80, 120, 90, 130, 70, 110, 100},
                                                   .per_step = true};
  const auto judged =
      judge({.limits = {step_limit(0)}}, std::vector{noisy}, std::vector{noisy}).front();
  EXPECT_EQ(judged.outcome, Outcome::kUnsure);
  ASSERT_TRUE(judged.change.enough);
  EXPECT_GT(judged.change.enough->steps, 7);
}

// Whatever makes an outcome unsure, it says how many steps or runs it takes; with as many it is
// sure.
TEST(Gate, WhatIsUnsureSaysWhatItTakes) {
  const auto noisy = [](double length, int count) {
    RunSamples out = steps_of(length, count);
    auto& values = out.samples.begin()->second.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= 1 + 0.05 * (static_cast<double>((4 * i + 5) % 11) - 5) / 5;
    }
    return out;
  };
  const auto judged = [](const GateLimit& limit, const RunSamples& before,
                         const RunSamples& after) {
    return judge({.limits = {limit}}, std::vector{before}, std::vector{after}).front();
  };
  GateLimit bounded = *named_limit(sample::kStepTime);
  bounded.bound = 99;
  GateLimit talk = *named_limit(sample::kExposedCommunication);
  talk.worse_by = 0.02;
  RunSamples quiet;
  RunSamples loud;
  quiet.samples[talk.name] = {.values = {0, 0, 0, 0}, .per_step = true};
  loud.samples[talk.name] = {.values = {0, 0.1, 0, 0.08}, .per_step = true};
  const std::vector<Judged> cases = {
      judged(step_limit(0), noisy(100, 1), noisy(100, 1)),  // how much steps vary is unknown
      judged(step_limit(0), noisy(100, 1), noisy(100, 8)),  // the other side does
      judged(step_limit(0), noisy(100, 40), noisy(100, 1)),
      judged(step_limit(0), noisy(100, 6), noisy(100, 6)),
      judged(step_limit(0.03), noisy(100, 6), noisy(100, 6)),
      judge({.limits = {bounded}}, {}, std::vector{noisy(100, 1)}).front(),
      judge({.limits = {bounded}}, {}, std::vector{noisy(100, 5)}).front(),
      judged(talk, quiet, loud),
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(cases[i].outcome, Outcome::kUnsure);
    ASSERT_TRUE(cases[i].change.enough);
    EXPECT_GT(cases[i].change.enough->steps, 4);
    EXPECT_GT(cases[i].change.enough->runs, 1);
    EXPECT_EQ(cases[i].change.enough->is_assumed, i == 0 || i == 5);
    if (i >= 5) continue;
    const auto steps = static_cast<int>(cases[i].change.enough->steps);
    const GateLimit& limit = cases[i].limit;
    EXPECT_NE(outcome_of(limit, noisy(100, 2 * steps), noisy(100, 2 * steps)), Outcome::kUnsure);
    if (i == 0) continue;  // they vary by more than is assumed
    EXPECT_EQ(outcome_of(limit, noisy(100, steps / 4), noisy(100, steps / 4)), Outcome::kUnsure);
  }
  // A run on the good side of its bound is not held up.
  EXPECT_EQ(judge({.limits = {bounded}}, {}, std::vector{noisy(90, 1)}).front().outcome,
            Outcome::kPassed);
}

TEST(Gate, AFigureOfTheRunIsComparedAsItIs) {
  GateLimit limit = *named_limit(sample::kPeakMemory);
  limit.worse_share = 0.05;
  const auto holding = [](double bytes) {
    RunSamples run;
    run.samples[std::string(sample::kPeakMemory)] = {.values = {bytes}};
    return run;
  };
  EXPECT_EQ(outcome_of(limit, holding(1000), holding(1051)), Outcome::kFailed);
  EXPECT_EQ(outcome_of(limit, holding(1000), holding(1050)), Outcome::kPassed);
  EXPECT_EQ(outcome_of(limit, holding(1000), holding(900)), Outcome::kBetter);
}

// A time that is one figure of the run: what is allowed is what it may differ by itself.
TEST(Gate, ATimeOfTheRunIsBetterOnlyByMoreThanIsAllowed) {
  GateLimit limit{.name = "gemm", .sample = "gemm", .unit = base::Unit::kNanos};
  limit.worse_share = 0.05;
  const auto taking = [](double ns) {
    RunSamples run;
    run.samples["gemm"] = {.values = {ns}};
    return run;
  };
  EXPECT_EQ(outcome_of(limit, taking(1000), taking(999)), Outcome::kPassed);
  EXPECT_EQ(outcome_of(limit, taking(1000), taking(940)), Outcome::kBetter);
  EXPECT_EQ(outcome_of(limit, taking(1000), taking(1051)), Outcome::kFailed);
  const Judged judged =
      judge({.limits = {limit}}, std::vector{taking(1000)}, std::vector{taking(999)}).front();
  EXPECT_TRUE(judged.as_it_is);
  EXPECT_FALSE(
      judge({.limits = {step_limit(0)}}, std::vector{steps_of(9)}, std::vector{steps_of(9)})
          .front()
          .as_it_is);
}

TEST(Gate, WhatSomebodyWroteDownIsNotOverlooked) {
  GateLimit limit = *named_limit(sample::kPeakMemory);
  limit.worse_share = 0.05;
  const std::vector runs = {steps_of(100)};
  EXPECT_TRUE(is_overlooked(judge({.limits = {limit}}, runs, runs).front()));
  limit.asked = false;
  EXPECT_FALSE(is_overlooked(judge({.limits = {limit}}, runs, runs).front()));
  EXPECT_FALSE(is_overlooked(judge({.limits = {step_limit(0)}}, runs, runs).front()));
}

TEST(Gate, ABoundHoldsWithoutABaseline) {
  GateLimit limit = *named_limit(sample::kStepTime);
  limit.bound = 90;
  const auto over = judge({.limits = {limit}}, {}, std::vector{steps_of(100)}).front();
  EXPECT_EQ(over.outcome, Outcome::kFailed);
  EXPECT_TRUE(over.beyond_bound);
  limit.bound = 99;  // not surely
  EXPECT_EQ(judge({.limits = {limit}}, {}, std::vector{steps_of(100)}).front().outcome,
            Outcome::kPassed);
}

TEST(Gate, WhatHasNoFiguresIsNotJudged) {
  GateLimit limit = *named_limit(sample::kPeakMemory);
  limit.worse_share = 0.05;
  EXPECT_EQ(outcome_of(limit, steps_of(100), steps_of(100)), Outcome::kNotJudged);
  EXPECT_EQ(judge({.limits = {step_limit(0)}}, {}, std::vector{steps_of(100)}).front().outcome,
            Outcome::kNotJudged);
}

TEST(Gate, AnAmountOfAShareIsJudgedByTheAmount) {
  GateLimit limit = *named_limit(sample::kExposedCommunication);
  limit.worse_by = 0.02;
  const auto exposed = [](double share) {
    RunSamples run;
    run.samples[std::string(sample::kExposedCommunication)] = {
        .values = std::vector<double>(20, share), .per_step = true};
    return run;
  };
  EXPECT_EQ(outcome_of(limit, exposed(0), exposed(0)), Outcome::kPassed);
  EXPECT_EQ(outcome_of(limit, exposed(0.10), exposed(0.115)), Outcome::kPassed);
  EXPECT_EQ(outcome_of(limit, exposed(0.10), exposed(0.15)), Outcome::kFailed);
}

RunSamples named(std::string name, double untraced, double traced) {
  RunSamples out = untraced > 0 ? steps_of(untraced) : steps_of(traced);
  out.name = std::move(name);
  Sample& own = out.samples[std::string(sample::kStepTime)];
  own.kind = untraced > 0 ? StepKind::kUntraced : StepKind::kTraced;
  if (untraced > 0 && traced > 0) {
    Sample beside = steps_of(traced).samples.begin()->second;
    beside.kind = StepKind::kTraced;
    out.samples[std::string(sample::kTracedStepTime)] = beside;
  }
  return out;
}

TEST(Gate, StepsThatNobodyTracedAreHeldAgainstTheirLike) {
  const Judged judged = judge({.limits = {step_limit(0)}}, std::vector{named("a", 100, 150)},
                              std::vector{named("b", 100, 190)})
                            .front();
  EXPECT_EQ(judged.outcome, Outcome::kPassed);
  EXPECT_NEAR(judged.change.after, 100, 1);
  EXPECT_EQ(judged.remark, "");
}

TEST(Gate, TracedStepsAreHeldAgainstTracedOnesAndItIsSaid) {
  const Judged judged = judge({.limits = {step_limit(0)}}, std::vector{named("a", 100, 150)},
                              std::vector{named("b", 0, 151)})
                            .front();
  EXPECT_EQ(judged.outcome, Outcome::kPassed);
  EXPECT_NEAR(judged.change.before, 150, 1);
  EXPECT_EQ(judged.remark, "of both sides the traced steps, since b has no others");
}

TEST(Gate, TracedAgainstUntracedIsUnsureAndSaysWhy) {
  const Judged judged = judge({.limits = {step_limit(0)}}, std::vector{named("a", 100, 0)},
                              std::vector{named("b", 0, 150)})
                            .front();
  EXPECT_EQ(judged.outcome, Outcome::kUnsure);
  EXPECT_EQ(judged.why,
            "the steps of b were traced, those of a were not, and a profiler costs time: the "
            "difference may be its doing; compare steps of one kind");
  ASSERT_TRUE(judged.change.enough);  // and how many
  EXPECT_GT(judged.change.enough->steps, 1);
  EXPECT_TRUE(fails(judged, {.limits = {}, .strict = true}));
  EXPECT_FALSE(fails(judged, {.limits = {}}));
}

// Step times of a file do not say whether a profiler ran.
TEST(Gate, WhatDoesNotSayIsHeldAgainstAnythingAndItIsSaid) {
  const RunSamples known = named("b", 0, 150);
  const Judged judged =
      judge({.limits = {step_limit(0)}}, std::vector{steps_of(100)}, std::vector{known}).front();
  EXPECT_EQ(judged.outcome, Outcome::kFailed);
  EXPECT_NE(judged.remark.find("it is not known whether those of run were"), std::string::npos);
  EXPECT_EQ(choose_steps(std::vector{steps_of(1)}, std::vector{named("a", 1, 2)}).remark, "");
}

TEST(Gate, ARunThatDidNotEndByItselfFails) {
  RunSamples killed = steps_of(100);
  killed.bad_end = "was killed, or still runs";
  const std::vector good = {steps_of(100)};
  const auto judged = judge({.limits = {step_limit(0)}}, good, std::vector{killed});
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_TRUE(judged[0].about_run);
  EXPECT_EQ(judged[0].outcome, Outcome::kFailed);
  EXPECT_EQ(judged[0].why, "run was killed, or still runs");
  EXPECT_EQ(judged[1].outcome, Outcome::kPassed);
  const GateRules allowing{.limits = {step_limit(0)}, .allow_unfinished = true};
  EXPECT_EQ(judge(allowing, good, std::vector{killed}).size(), 1u);
}

TEST(Gate, ARunWithoutStepsFailsWhereStepsAreLimited) {
  const RunSamples none{.name = "empty", .samples = {}};
  const std::vector good = {steps_of(100)};
  const auto judged = judge({.limits = {step_limit(0)}}, good, std::vector{none});
  EXPECT_EQ(judged.front().outcome, Outcome::kFailed);
  EXPECT_EQ(
      judged.front().why,
      "empty has no steps: nothing could be judged of step_time; a profiler's step() marks them, "
      "--steps names them");
  // So does a baseline without any, and not where only memory is limited.
  EXPECT_EQ(judge({.limits = {step_limit(0)}}, std::vector{none}, good).front().outcome,
            Outcome::kFailed);
  GateLimit memory = *named_limit(sample::kPeakMemory);
  memory.bound = 5;
  EXPECT_FALSE(judge({.limits = {memory}}, {}, std::vector{none}).front().about_run);
}

}  // namespace
}  // namespace stepscope::analysis
