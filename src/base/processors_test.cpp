#include "base/processors.h"

#include <sched.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

cpu_set_t own_cpus() {
  cpu_set_t cpus;
  EXPECT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  return cpus;
}

// The calling thread may run on these only, until this goes.
class Only {
 public:
  explicit Only(const cpu_set_t& cpus) : before_(own_cpus()) {
    EXPECT_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);
  }
  ~Only() { sched_setaffinity(0, sizeof before_, &before_); }
  Only(const Only&) = delete;
  Only& operator=(const Only&) = delete;

 private:
  cpu_set_t before_;
};

cpu_set_t one_cpu(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  return cpus;
}

class ProcessorsTest : public testing::Test {
 protected:
  void SetUp() override {
    const cpu_set_t cpus = own_cpus();
    if (CPU_COUNT(&cpus) < 2) GTEST_SKIP() << "one processor may be used here";
    const int here = sched_getcpu();
    cpu_set_t others = cpus;
    CPU_CLR(static_cast<std::size_t>(here), &others);
    if (sched_setaffinity(0, sizeof others, &others) != 0 || sched_getcpu() == here) {
      GTEST_SKIP() << "threads may not choose their processor here";
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);
  }
};

// The system may move either thread at any moment, so not each time.
TEST_F(ProcessorsTest, AThreadBeginsElsewhereAndMayThenRunEverywhere) {
  constexpr int kTimes = 40;
  int elsewhere = 0;
  for (int i = 0; i < kTimes; ++i) {
    const cpu_set_t own = own_cpus();
    std::atomic<int> there = -1;
    const int here = sched_getcpu();
    auto thread = ApartThread::start([&] {
      there = sched_getcpu();
      const auto may_run_everywhere = [&] {
        const cpu_set_t cpus = own_cpus();
        return CPU_EQUAL(&cpus, &own) != 0;
      };
      while (!may_run_everywhere()) std::this_thread::yield();
    });
    ASSERT_TRUE(thread);
    while (there < 0) {  // nobody is to be moved here because this one sleeps
    }
    thread.reset();  // waits for its end
    if (there != here) ++elsewhere;
  }
  EXPECT_GE(elsewhere, kTimes / 2);
}

TEST_F(ProcessorsTest, WhereOneProcessorMayBeUsedAThreadBeginsThere) {
  const int here = sched_getcpu();
  const Only only(one_cpu(here));
  int there = -1;
  {
    ASSERT_TRUE(ApartThread::start([&] { there = sched_getcpu(); }));
  }
  EXPECT_EQ(there, here);
}

TEST_F(ProcessorsTest, WhoSharesAProcessorMovesAndMayThenRunEverywhere) {
  constexpr int kTimes = 40;
  const cpu_set_t before = own_cpus();
  int moved = 0;
  for (int i = 0; i < kTimes; ++i) {
    Processors processors(2);
    const int here = sched_getcpu();
    processors.keep_apart(0);  // both are this thread
    processors.keep_apart(1);
    if (sched_getcpu() != here) ++moved;
    const cpu_set_t after = own_cpus();
    EXPECT_TRUE(CPU_EQUAL(&after, &before));
  }
  EXPECT_GE(moved, kTimes / 2);
}

TEST_F(ProcessorsTest, WhoLeftIsInNobodysWay) {
  constexpr int kTimes = 40;
  int stayed = 0;
  for (int i = 0; i < kTimes; ++i) {
    Processors processors(2);
    const int here = sched_getcpu();
    processors.keep_apart(0);
    processors.leave(0);
    processors.keep_apart(1);
    if (sched_getcpu() == here) ++stayed;
  }
  EXPECT_GE(stayed, kTimes / 2);
}

TEST_F(ProcessorsTest, WhereNoOtherProcessorMayBeUsedTheyShareIt) {
  const int here = sched_getcpu();
  const Only only(one_cpu(here));
  Processors processors(2);
  processors.keep_apart(0);
  processors.keep_apart(1);
  EXPECT_EQ(sched_getcpu(), here);
}

}  // namespace
}  // namespace stepscope::base
