#include "base/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/pause.h"

namespace stepscope::base {
namespace {

// As long as most gaps between two stages of a load are.
constexpr std::chrono::microseconds kLooks{200};
constexpr int kLooksByTheClock = 64;

// Until it is another one.
void wait_while(const std::atomic<std::uint32_t>& state, std::uint32_t value, bool looks) {
  const auto until = std::chrono::steady_clock::now() + kLooks;
  while (looks && std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < kLooksByTheClock; ++i) {
      if (state.load(std::memory_order_acquire) != value) return;
      pause();
    }
  }
  state.wait(value, std::memory_order_acquire);
}

}  // namespace

ThreadPool::~ThreadPool() {
  for (Member& member : members_) turn(member, kOver);
}

void ThreadPool::turn(Member& member, State state) {
  // Sequentially consistent: on x86 some libraries look, before the store is to be seen, whether
  // anybody sleeps, and then wake nobody.
  member.state.store(state);
  member.state.notify_one();
}

void ThreadPool::live(Member& member) const {
  while (true) {
    wait_while(member.state, kIdle, looks_);
    if (member.state.load(std::memory_order_acquire) == kOver) return;
    (*member.body)(member.number);
    turn(member, kIdle);
  }
}

// One more thread, if the system gives it.
bool ThreadPool::hire() {
  const std::size_t before = members_.size();
  bool hired = false;
  try {
    Member& member = members_.emplace_back();
    member.number = members_.size();
    std::optional<ApartThread> thread = ApartThread::start([this, &member] { live(member); });
    hired = thread.has_value();
    if (hired) member.thread.emplace(std::move(*thread));
  } catch (const std::bad_alloc&) {
    hired = false;
  }
  if (!hired && members_.size() > before) members_.pop_back();
  return hired;
}

void ThreadPool::begin(std::size_t threads, const std::function<void(std::size_t)>& body) {
  while (members_.size() < threads && hire()) {
  }
  looks_ = are_processors_for(members_.size() + 1);
  for (std::size_t i = 0; i < std::min(threads, members_.size()); ++i) {
    members_[i].body = &body;
    turn(members_[i], kAtWork);
  }
}

void ThreadPool::finish() {
  for (Member& member : members_) wait_while(member.state, kAtWork, looks_);
}

}  // namespace stepscope::base
