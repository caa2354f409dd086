// Threads that share a piece of work, kept on different processors. A virtual machine often takes
// its idle processors for busy ones; then a thread that begins or wakes up is put where the one
// runs that started or woke it, and they take turns there until the system looks again, for tens
// of milliseconds: longer than much of what is shared.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace stepscope::base {

// A thread that begins on another processor than the one that starts it.
class ApartThread {
 public:
  // Nothing where the system gives no thread. `body` must not throw.
  static std::optional<ApartThread> start(std::function<void()> body);
  ApartThread(ApartThread&& other) noexcept;
  ApartThread& operator=(ApartThread&&) = delete;
  ~ApartThread();  // waits for its end

 private:
  explicit ApartThread(pthread_t thread) : thread_(thread) {}

  std::optional<pthread_t> thread_;
};

// Whether each of so many threads may have one to itself.
bool are_processors_for(std::size_t threads);

// Where the threads of one piece of work run.
class Processors {
 public:
  explicit Processors(std::size_t threads) : threads_(threads) {}

  // Called by a thread now and then: moves it to a processor that none of the others was last seen
  // on, if one of them was last seen on this one. Nothing is laid down: the system may move it
  // again. Thread 0 is the caller's own, and is never moved.
  void keep_apart(std::size_t thread);
  void leave(std::size_t thread) { threads_[thread].seen_on.store(kNone); }

 private:
  static constexpr int kNone = -1;
  struct alignas(128) Thread {
    std::atomic<int> seen_on{kNone};
    // Only its own thread looks at these. On a machine with much to do the system moves threads
    // back for a reason, so each try makes the next one wait for twice as long, up to a limit.
    std::chrono::steady_clock::time_point next_try{};
    std::chrono::milliseconds pause{1};
  };

  bool is_shared(int cpu, std::size_t thread) const;
  void move(std::size_t thread);

  std::vector<Thread> threads_;
};

}  // namespace stepscope::base
