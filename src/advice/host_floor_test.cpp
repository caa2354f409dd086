// A gain on the GPU is limited by what the host needs for a step.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Products without tensor cores for 8 of 10 ms, and a host that is so long in each step.
Answers slow_products(std::int64_t host_ns) {
  Answers answers;
  answers.steps().stall("launch", 0);
  answers.add("operators", "tensor_cores",
              {{"rank", 0},
               {"operators", "matrix products"},
               {"device_ns", 32'000'000},
               {"not_used_ns", 32'000'000},
               {"plain_ns", 32'000'000}});
  for (int step = 0; step < 4; ++step) {
    answers.add("steps", "steps",
                {{"rank", 0}, {"step", step}, {"step_ns", 10'000'000}, {"host_ns", host_ns}});
  }
  return answers;
}

base::Nanos host_floor_low_of(const Answers& answers) {
  return finding_of(answers.advise(), "precision")->gain->low;
}

TEST(HostFloor, AFasterGpuWaitsForTheHost) {
  EXPECT_EQ(host_floor_low_of(slow_products(2'000'000)), 6'000'000);  // four times as fast
  EXPECT_EQ(host_floor_low_of(slow_products(10'000'000)),
            1'700'000);  // a profiler is 0.17 of the host's
  const auto says_so = [](std::int64_t host_ns) {
    const Advice advice = slow_products(host_ns).advise();
    return finding_of(advice, "precision")->about_gain.form.find("waits for the CPU.") !=
           std::string::npos;
  };
  EXPECT_TRUE(says_so(10'000'000));
  EXPECT_FALSE(says_so(2'000'000));
}

// At most: a profiler is 0.6 of the host's time, and more of what waits for the GPU is none of it.
TEST(HostFloor, NoStepIsShorterThanTheHost) {
  const auto high_of = [](const Answers& answers) {
    return finding_of(answers.advise(), "precision")->gain->high;
  };
  EXPECT_EQ(high_of(slow_products(2'000'000)), 7'550'000);
  EXPECT_EQ(high_of(slow_products(10'000'000)), 6'050'000);
  Answers full = slow_products(10'000'000);
  full.add("launches", "ranks", {{"rank", 0}, {"calls", 400}, {"cost_ns", 8'000'000}});
  EXPECT_EQ(high_of(full), 6'770'000);
  Answers stacks = slow_products(10'000'000);
  stacks.add("operators", "stacks", {{"rank", 0}, {"stack", "train.py(3): <module>"}});
  EXPECT_EQ(high_of(stacks), 7'550'000);
}

TEST(HostFloor, WaitsForTheGpuAreNoWork) {
  Answers syncs = slow_products(10'000'000);
  syncs.stall("sync", 0, {{"host_ns", 4 * 8'000'000}});
  EXPECT_EQ(host_floor_low_of(syncs), 6'000'000);
  Answers full = slow_products(10'000'000);
  full.add("launches", "ranks", {{"rank", 0}, {"calls", 400}, {"cost_ns", 36'000'000}});
  EXPECT_EQ(host_floor_low_of(full), 6'000'000);
}

TEST(HostFloor, IsUnknownWithoutTheHostsTimes) {
  EXPECT_EQ(host_floor_low_of(Answers(slow_products(0))), 6'000'000);
}

}  // namespace
}  // namespace stepscope::advice
