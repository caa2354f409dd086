// A pool of threads, and the loops that share their pieces among it.
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stepscope::base {

// Threads that stay for one piece of shared work after another, and sleep in between.
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
  void add_threads(std::size_t threads);
  void work(std::size_t number, std::uint64_t seen_round);

  std::mutex mutex_;
  std::condition_variable begun_, done_;
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::uint64_t round_ = 0;  // grows with each begin()
  std::size_t wanted_ = 0;   // threads that take part in this round
  std::size_t at_work_ = 0;  // those that have not finished it
  bool is_ending_ = false;
  std::vector<std::jthread> threads_;  // last: joined before the rest goes
};

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  begun_.notify_all();
}

void ThreadPool::work(std::size_t number, std::uint64_t seen_round) {
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return is_ending_ || round_ != seen_round; });
    if (is_ending_) return;
    seen_round = round_;
    if (number > wanted_) continue;
    const std::function<void(std::size_t)>& body = *body_;
    lock.unlock();
    body(number);
    lock.lock();
    if (--at_work_ == 0) done_.notify_one();
  }
}

// As many as the system gives.
void ThreadPool::add_threads(std::size_t threads) {
  try {
    while (threads_.size() < threads) {
      const std::size_t number = threads_.size() + 1;
      threads_.emplace_back([this, number, round = round_] { work(number, round); });
    }
  } catch (const std::system_error&) {
    return;
  } catch (const std::bad_alloc&) {
    return;
  }
}

void ThreadPool::begin(std::size_t threads, const std::function<void(std::size_t)>& body) {
  add_threads(threads);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    wanted_ = at_work_ = std::min(threads, threads_.size());
    ++round_;
  }
  begun_.notify_all();
}

void ThreadPool::finish() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return at_work_ == 0; });
}

namespace {

// The first exception of a few threads: memory that ran out in one of them is for the caller to
// know, and would otherwise end the process.
class FirstException {
 public:
  explicit FirstException(const std::function<void()>& on_failure) : on_failure_(on_failure) {}

  template <class Work>
  void around(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (first_) return;
      first_ = std::current_exception();
      if (on_failure_) on_failure_();
    }
  }
  void pass_on() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  const std::function<void()>& on_failure_;
  std::mutex mutex_;
  std::exception_ptr first_;
};

// The threads that the calling one keeps, unless they are at work.
thread_local ThreadPool* kept_pool = nullptr;

// The pieces that are left of a stretch. Its owner takes them from the front, the others from
// the back.
class alignas(128) Stretch {
 public:
  // There are less than 2^32 pieces.
  Stretch(std::size_t begin, std::size_t end) : left_(std::uint64_t{begin} << 32 | end) {}

  std::optional<std::size_t> first() {
    std::uint64_t left = left_.load();
    while (begin_of(left) < end_of(left)) {
      if (left_.compare_exchange_weak(left, left + (std::uint64_t{1} << 32))) return begin_of(left);
    }
    return std::nullopt;
  }
  std::optional<std::size_t> last() {
    std::uint64_t left = left_.load();
    while (begin_of(left) < end_of(left)) {
      if (left_.compare_exchange_weak(left, left - 1)) return end_of(left) - 1;
    }
    return std::nullopt;
  }

 private:
  static std::size_t begin_of(std::uint64_t left) { return left >> 32; }
  static std::size_t end_of(std::uint64_t left) { return left & 0xffffffff; }

  std::atomic<std::uint64_t> left_;
};

}  // namespace

void on_threads(std::size_t threads, const std::function<void(std::size_t)>& body,
                const std::function<void()>& on_failure) {
  FirstException failed(on_failure);
  if (threads <= 1) {
    failed.around([&] { body(0); });
    failed.pass_on();
    return;
  }
  const std::function<void(std::size_t)> run = [&](std::size_t thread) {
    failed.around([&] { body(thread); });
  };
  // Work inside of this has threads of its own.
  ThreadPool* const kept = std::exchange(kept_pool, nullptr);
  std::optional<ThreadPool> own;
  ThreadPool& pool = kept != nullptr ? *kept : own.emplace();
  pool.begin(threads - 1, run);
  run(0);
  pool.finish();
  kept_pool = kept;
  failed.pass_on();
}

KeepThreads::KeepThreads() {
  if (kept_pool != nullptr) return;
  pool_ = std::make_unique<ThreadPool>();
  kept_pool = pool_.get();
}

KeepThreads::~KeepThreads() {
  if (pool_) kept_pool = nullptr;
}

void parallel_for(std::size_t pieces, unsigned threads,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  on_threads(std::min<std::size_t>(threads, pieces), [&](std::size_t) {
    for (std::size_t i = next++; i < pieces; i = next++) work(i);
  });
}

void parallel_stretches(std::size_t pieces, unsigned threads,
                        const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t count = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(pieces, 1));
  std::deque<Stretch> stretches;
  for (std::size_t t = 0; t < count; ++t) {
    stretches.emplace_back(t * pieces / count, (t + 1) * pieces / count);
  }
  on_threads(count, [&](std::size_t own) {
    while (const auto piece = stretches[own].first()) work(*piece, own);
    for (std::size_t other = own + 1; other < own + count; ++other) {
      while (const auto piece = stretches[other % count].last()) work(*piece, own);
    }
  });
}

}  // namespace stepscope::base
