#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/processors.h"

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

// One more thread, if the system gives it.
bool start(std::vector<ApartThread>& threads, const std::function<void()>& body) {
  try {
    std::optional<ApartThread> thread = ApartThread::start(body);
    if (thread) threads.push_back(std::move(*thread));
    return thread.has_value();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

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
class Stretch {
 public:
  Stretch(std::size_t begin, std::size_t end) : begin_(begin), end_(end) {}

  std::optional<std::size_t> first() {
    const std::lock_guard lock(mutex_);
    return begin_ < end_ ? std::optional(begin_++) : std::nullopt;
  }
  std::optional<std::size_t> last() {
    const std::lock_guard lock(mutex_);
    return begin_ < end_ ? std::optional(--end_) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::size_t begin_, end_;
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
  std::vector<ApartThread> others;
  others.reserve(threads);
  for (std::size_t t = 1; t < threads; ++t) {
    if (!start(others, [&, t] { run(t); })) break;
  }
  run(0);
  others.clear();  // waits for them
  failed.pass_on();
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
