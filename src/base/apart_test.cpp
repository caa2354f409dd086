#include "base/apart.h"

#include <sched.h>

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

class Apart : public testing::Test {
 protected:
  void SetUp() override {
    const cpu_set_t cpus = own_cpus();
    if (CPU_COUNT(&cpus) < 2) GTEST_SKIP() << "one processor may be used here";
  }
};

// The system may move either thread at any moment, so not each time but nearly.
TEST_F(Apart, AThreadBeginsElsewhereAndMayThenRunEverywhere) {
  constexpr int kTimes = 40;
  int elsewhere = 0;
  for (int i = 0; i < kTimes; ++i) {
    cpu_set_t cpus{};
    int there = -1;
    const int here = sched_getcpu();
    {
      const auto thread = ApartThread::start([&] {
        there = sched_getcpu();
        cpus = own_cpus();
      });
      ASSERT_TRUE(thread);
    }
    if (there != here) ++elsewhere;
    const cpu_set_t own = own_cpus();
    EXPECT_TRUE(CPU_EQUAL(&cpus, &own));
  }
  EXPECT_GE(elsewhere, kTimes * 3 / 4);
}

TEST_F(Apart, WhereOneProcessorMayBeUsedAThreadBeginsThere) {
  const int here = sched_getcpu();
  const Only only(one_cpu(here));
  int there = -1;
  {
    ASSERT_TRUE(ApartThread::start([&] { there = sched_getcpu(); }));
  }
  EXPECT_EQ(there, here);
}

TEST_F(Apart, WhoSharesAProcessorMovesAndMayThenRunEverywhere) {
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
  EXPECT_GE(moved, kTimes * 3 / 4);
}

TEST_F(Apart, WhoLeftIsInNobodysWay) {
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
  EXPECT_GE(stayed, kTimes * 3 / 4);
}

TEST_F(Apart, WhereNoOtherProcessorMayBeUsedTheyShareIt) {
  const int here = sched_getcpu();
  const Only only(one_cpu(here));
  Processors processors(2);
  processors.keep_apart(0);
  processors.keep_apart(1);
  EXPECT_EQ(sched_getcpu(), here);
}

}  // namespace
}  // namespace stepscope::base
