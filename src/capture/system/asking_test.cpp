// Questions to a driver that answers slowly, late or never.
#include "capture/system/asking.h"

#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/system/fake_machine_for_tests.h"
#include "capture/system/nvidia.h"
#include "capture/ticks.h"

namespace stepscope::capture {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Counts how often it was asked. Held: it does not answer.
class Counted final : public Question {
 public:
  explicit Counted(std::string asked) : asked_(std::move(asked)) {}
  bool ask(Samples& samples, const AskedAt& at) override {
    if (!series_) series_ = samples.define({.name = asked_, .unit = "count"});
    ++asked_times;
    if (at.is_last) ++last_times;
    while (is_held.load()) std::this_thread::sleep_for(milliseconds(1));
    samples.put(*series_, asked_times.load());
    return !is_over.load();
  }
  std::string asked() const override { return asked_; }

  std::atomic<int> asked_times = 0, last_times = 0;
  std::atomic<bool> is_held = false, is_over = false;

 private:
  std::string asked_;
  std::optional<wire::SeriesId> series_;
};

bool within_seconds(int seconds, const std::function<bool()>& holds) {
  const auto end = steady_clock::now() + std::chrono::seconds(seconds);
  while (!holds()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

struct TwoAsked {
  std::shared_ptr<SampleBook> book = std::make_shared<SampleBook>();
  std::shared_ptr<Counted> first = std::make_shared<Counted>("GPU 0");
  std::shared_ptr<Counted> second = std::make_shared<Counted>("GPU 1");
  Asking asking{"test", milliseconds(5), book};
  std::string bytes;

  TwoAsked() {
    add_question(*asking.questions(), first);
    add_question(*asking.questions(), second);
  }
  Seen seen() {
    asking.take(bytes);
    return seen_in(bytes);
  }
  // As the sampler does; how long its longest turn took.
  steady_clock::duration look_after_until(const std::function<bool()>& holds) {
    steady_clock::duration longest{};
    EXPECT_TRUE(within_seconds(20, [&] {
      const auto began = steady_clock::now();
      asking.look_after(false);
      asking.take(bytes);
      longest = std::max(longest, steady_clock::now() - began);
      return holds();
    }));
    return longest;
  }
};

TEST(Asking, EverythingInTurnsAndOnceMoreAtTheEnd) {
  TwoAsked two;
  two.asking.start();
  two.look_after_until([&] { return two.second->asked_times > 5; });
  two.asking.finish(steady_clock::now());
  EXPECT_EQ(two.first->last_times, 1);
  EXPECT_EQ(two.second->last_times, 1);
  const Seen seen = two.seen();
  EXPECT_EQ(seen["GPU 0"].size(), static_cast<std::size_t>(two.first->asked_times));
  EXPECT_EQ(seen["GPU 1"].back(), two.second->asked_times);
  EXPECT_THAT(seen.notices, IsEmpty());
}

TEST(Asking, WhatWasSeenIsNotKeptBackByAnAnswerThatDoesNotCome) {
  TwoAsked two;
  two.second->is_held = true;
  two.asking.start();
  ASSERT_TRUE(within_seconds(20, [&] { return two.second->asked_times == 1; }));
  EXPECT_THAT(two.seen()["GPU 0"], ElementsAre(1));
  two.second->is_held = false;
  two.asking.finish(steady_clock::now());
}

TEST(Asking, AnotherThreadAsksTheRestAndWhoComesBackIsAskedAgain) {
  TwoAsked two;
  two.first->is_held = true;
  two.asking.start();
  const auto longest = two.look_after_until([&] { return two.second->asked_times > 20; });
  EXPECT_LT(longest, milliseconds(500));
  EXPECT_EQ(two.first->asked_times, 1);
  EXPECT_THAT(two.seen().notices,
              ElementsAre("nvml: GPU 0 does not answer: as long as it does not, "
                          "nothing is known of it."));
  two.first->is_held = false;
  two.look_after_until([&] { return two.first->asked_times > 20; });
  two.asking.finish(steady_clock::now());
  EXPECT_EQ(two.first->last_times, 1);
  EXPECT_EQ(two.seen()["GPU 0"].size(), static_cast<std::size_t>(two.first->asked_times));
}

TEST(Asking, WhatIsOverIsNotAskedAgain) {
  TwoAsked two;
  two.first->is_over = true;
  two.asking.start();
  two.look_after_until([&] { return two.second->asked_times > 5; });
  two.second->is_over = true;
  two.asking.finish(steady_clock::now());
  EXPECT_EQ(two.first->asked_times, 1);
}

TEST(Asking, TheEndDoesNotWaitForWhoDoesNotAnswer) {
  const auto held = std::make_shared<Counted>("GPU 0");
  held->is_held = true;
  {
    Asking asking("test", milliseconds(5), std::make_shared<SampleBook>());
    add_question(*asking.questions(), held);
    asking.start();
    ASSERT_TRUE(within_seconds(20, [&] { return held->asked_times == 1; }));
    const auto began = steady_clock::now();
    asking.finish(began);
    EXPECT_LT(steady_clock::now() - began, Asking::kPatience + milliseconds(500));
    std::this_thread::sleep_for(milliseconds(100));
    const auto again = steady_clock::now();
    asking.finish(again);  // it has been waiting for longer than that
    EXPECT_LT(steady_clock::now() - again, milliseconds(500));
  }
  held->is_held = false;  // the thread that was left alone ends by itself
  EXPECT_TRUE(within_seconds(20, [&] { return held.use_count() == 1; }));
}

TEST(Asking, ADriverThatIsNotThereIsNamedOnce) {
  FakeMachine machine;
  const auto book = std::make_shared<SampleBook>();
  NvidiaGpus gpus(machine.place(), std::make_shared<const JobBoard>(), milliseconds(5), book);
  gpus.start();
  gpus.finish();
  std::string bytes;
  gpus.take(bytes);
  const Seen seen = seen_in(bytes);
  EXPECT_THAT(seen.values, IsEmpty());
  EXPECT_THAT(seen.notices,
              ElementsAre(HasSubstr("nvml: NVIDIA GPUs are not measured: there is no ")));
}

}  // namespace
}  // namespace stepscope::capture
