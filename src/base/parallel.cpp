#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "base/processors.h"
#include "base/thread_pool.h"

namespace stepscope::base {
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

// Of the work that the calling thread has a part in; the innermost where one is inside another.
struct Part {
  Processors* processors = nullptr;
  std::size_t thread = 0;
};
thread_local Part own_part;

// For as long as a thread has a part in some work.
class TakesPart {
 public:
  TakesPart(Processors& processors, std::size_t thread)
      : before_(std::exchange(own_part, {&processors, thread})) {
    keep_apart();
  }
  ~TakesPart() {
    own_part.processors->leave(own_part.thread);
    own_part = before_;
  }
  TakesPart(const TakesPart&) = delete;
  TakesPart& operator=(const TakesPart&) = delete;

 private:
  Part before_;
};

// The pieces that are left of a stretch. Its owner takes them from the front, others from behind.
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

void keep_apart() {
  if (own_part.processors != nullptr) own_part.processors->keep_apart(own_part.thread);
}

void on_threads(std::size_t threads, const std::function<void(std::size_t)>& body,
                const std::function<void()>& on_failure) {
  FirstException failed(on_failure);
  if (threads <= 1) {  // stays a part of the work around it
    failed.around([&] { body(0); });
    failed.pass_on();
    return;
  }
  Processors processors(threads);
  const auto run = [&](std::size_t thread) {
    const TakesPart part(processors, thread);
    failed.around([&] { body(thread); });
  };
  const std::function<void(std::size_t)> others = std::ref(run);
  // Work inside of this has threads of its own.
  ThreadPool* const kept = std::exchange(kept_pool, nullptr);
  std::optional<ThreadPool> own;
  ThreadPool& pool = kept != nullptr ? *kept : own.emplace();
  pool.begin(threads - 1, others);
  run(0);
  pool.finish();
  kept_pool = kept;
  failed.pass_on();
}

KeepThreads::KeepThreads() {
  if (kept_pool == nullptr) kept_pool = &pool_.emplace();
}

KeepThreads::~KeepThreads() {
  if (pool_) kept_pool = nullptr;
}

void parallel_for(std::size_t pieces, unsigned threads,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  on_threads(std::min<std::size_t>(threads, pieces), [&](std::size_t) {
    for (std::size_t i = next++; i < pieces; i = next++) {
      work(i);
      keep_apart();
    }
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
    const auto take = [&](std::size_t piece) {
      work(piece, own);
      keep_apart();
    };
    while (const auto piece = stretches[own].first()) take(*piece);
    for (std::size_t other = own + 1; other < own + count; ++other) {
      while (const auto piece = stretches[other % count].last()) take(*piece);
    }
  });
}

}  // namespace stepscope::base
