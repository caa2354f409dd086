// Threads that stay for one piece of shared work after another. Between two pieces a thread looks
// for the next one for a moment before it sleeps: the stages of a load are milliseconds long, and
// to start a thread, or to wake one on an idle processor, takes a noticeable part of that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "base/processors.h"

namespace stepscope::base {

class ThreadPool {
 public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();  // ends its threads; none of them may be at work

  // Calls body(1) … body(threads), each on a thread of its own; for fewer where the system gives no
  // more. `body` must not throw, and lives until finish() has waited for the last call of it.
  void begin(std::size_t threads, const std::function<void(std::size_t)>& body);
  void finish();

 private:
  enum State : std::uint32_t { kIdle, kAtWork, kOver };

  // Two threads look at its state all the time: no other's shares the line.
  struct alignas(128) Member {
    std::atomic<std::uint32_t> state{kIdle};
    const std::function<void(std::size_t)>* body = nullptr;
    std::size_t number = 0;
    std::optional<ApartThread> thread;
  };

  void live(Member& member) const;
  static void turn(Member& member, State state);
  bool hire();

  // Whether who waits looks before he sleeps: where others want the processor, nobody does.
  std::atomic<bool> looks_ = false;
  std::deque<Member> members_;
};

}  // namespace stepscope::base
